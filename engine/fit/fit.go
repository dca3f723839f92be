// Package fit is one fit, from the caller's problem to its result. Start at fit: it calls the stages in their order.
package fit

import (
	"cmp"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Fit learns a classifier from labeled and unlabeled rows. It returns fault.ErrCancelled soon after progress.Cancel is
// set, or with work.Stop in it the classifier after one more step; progress may be nil. Machines of a group, or nil,
// share the rows: each calls it with its own in its part of Group.Run, and gets the same classifier.
func Fit(p sample.Problem, options method.Options, progress *work.Progress, group *work.Group) (*Result, error) {
	return work.Guard(func() (*Result, error) {
		job := work.NewJob(options.Threads, progress)
		if group.Shares() {
			job.Group = group
		}
		if err := begin(p, options, job.Group); err != nil {
			return nil, err
		}
		return fit(p, options, job)
	})
}

// begin refuses options that do not go together, or that a group cannot follow.
func begin(p sample.Problem, options method.Options, group *work.Group) error {
	if err := options.Agree(); err != nil || group == nil {
		return err
	}
	alike := options
	alike.Threads = 0
	group.Begin(p.Checksum(alike))
	return options.Together()
}

// fit is the order of calls:
//
//	open       rows by kind, weights; class shares that are not given, by cross-fitted models    setting.go, shares
//	learn      the fit of one sample; method auto: its mean with two others, where shares were
//	           estimated                                                                         committee.go
//	  search     the fit alone:
//	    coarse     where there are many rows: search among a part of them, where run begins      coarse.go
//	    run        the method
//	    compare    method auto: another start, then, outside a mean, another method; the lower
//	               objective stays                                                               compare.go
//	weak       where rows are weakly labeled: open and learn again, with copies of these rows
//	           in the class that was found                                                       weak.go
//	calibrate  where asked for: temperatures, by five such fits without a fifth of the labels    calibrate.go
//
// Result.Trained has every model that was trained on the way.
func fit(p sample.Problem, options method.Options, job *work.Job) (*Result, error) {
	x, err := open(p, options, job)
	if err != nil {
		return nil, err
	}
	result, err := learn(x, start{model: p.Start})
	if err != nil {
		return nil, err
	}
	if result, err = weak(result); err != nil {
		return nil, err
	}
	if err := calibrate(result); err != nil {
		return nil, err
	}
	return result.conclude(p.Rows.Rows()), nil
}

func search(x *setting, begin start) (*fitted, error) {
	begin, err := coarse(x, begin)
	if err != nil {
		return nil, err
	}
	result, err := run(x, x.sample.Job, begin, 0)
	if err != nil {
		return nil, err
	}
	return compare(result, begin), nil
}

// run is one run of a method; nil where it was given up because it would not end below the bound.
func run(x *setting, job *work.Job, begin start, bound float64) (*fitted, error) {
	spec := cmp.Or(begin.spec, x.named.First())
	before := job.Visited()
	r := x.newRun(job, spec, begin, bound)
	solution := solve(r, spec)
	x.trained.add(string(spec.Name), 1, job.Visited()-before, x.sample.Pass)
	switch r.Path.Reason {
	case path.GivenUp:
		return nil, nil
	case path.NotFinite:
		return nil, x.sample.OutOfRange()
	}
	return resultOf(x, r, solution, spec, begin)
}

func solve(r *method.Run, spec *method.Spec) *method.Solution {
	s := r.Objective.Sample
	switch {
	case s.Constant():
		return method.FitOneClass(r)
	case s.Transductive():
		return spec.Fit(r)
	}
	switch s.All.Unlabeled {
	case 0:
		r.Path.Trace.Warn(warning.NoUnlabeled)
	case 1:
		r.Path.Trace.Warn(warning.OneUnlabeled)
	}
	return method.FitSupervised(r)
}

func resultOf(x *setting, r *method.Run, solution *method.Solution, spec *method.Spec, begin start) (*fitted, error) {
	value := 0.0
	if spec.UsesProbabilities && x.sample.Transductive() && !x.sample.Constant() {
		value = r.Path.Trace.Objective(0)
	} else {
		if part := x.thresholdPart(spec); part > 0 && r.Path.Reason != path.OneClass {
			moveIntercepts(r, solution, part)
		}
		value, _ = r.Objective.Value(solution.Loss, solution.Regularizer, solution.Score(r.Objective))
		checkEnd(r, solution)
	}
	err := x.sample.CheckFinite(value, solution.Coef, solution.Intercept, solution.Outputs, solution.SoftLabels)
	if err != nil {
		return nil, err
	}
	out := &fitted{setting: x, spec: spec, trace: r.Path.Trace, reason: r.Path.Reason, before: begin.steps,
		origin: begin.origin, Result: &Result{Model: modelOf(x, r, solution, value), Returned: string(spec.Name),
			Alpha: x.options.Alpha, Weight: x.sample.Options.UnlabeledWeight,
			Transduction:  transduced(x.sample, solution.Score(r.Objective)),
			Distributions: distributions(x, solution.SoftLabels)}}
	if r.Origin != nil {
		out.origin = classed{x.sample.Unlabeled, r.Origin, x.sample.UnlabeledRows}
	}
	if x.named.SoftLabels && !spec.SoftLabels { // the start was by another method
		out.Distributions = distributions(x, make([]float64, len(x.sample.Unlabeled)*r.Objective.Classes))
		harden(x.sample, out.Distributions, out.Transduction)
	}
	return out, nil
}
