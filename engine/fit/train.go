package fit

import (
	"cmp"
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Member is a model of a fit: how it learns from Data.
type Member struct {
	method  method.Method // "": that of its start, or else that of the options
	begin   start
	tol     float64   // 0: that of the options
	scores  []float64 // [unlabeled, K] for method.AtScores
	bound   float64   // it is given up if it will not end below this objective; 0: never
	settled bool      // a mixture has the class shares of the fit, not its own
	weight  float64   // in a committee
}

// start is where a member begins: at a model, of the caller or of a part of the rows, or at the supervised solution.
type start struct {
	model  *model.Linear
	method method.Method // that chose the model; "": that of the options
	steps  int           // before, of the whole fit
	// Unlabeled rows, perhaps a part, by the supervised solution where a method began; nil: it began elsewhere.
	origin sample.Selection
}

// Train makes a model, the only place where one is made. It is nil if it was given up.
//
// Sets: Trained of the fit, the count of its work.
func (d *Data) Train(m Member) (*fitted, error) {
	job, spec := d.sample.Job, method.Find(cmp.Or(m.begin.method, m.method, d.named.First().Name))
	if d.aside() || m.bound > 0 || spec.Direct() { // beside the models that lead to the result
		job = job.Silent()
	}
	before := job.Visited()
	r := d.newRun(job, spec, m)
	solution := solve(r, spec)
	visited := job.Visited() - before
	d.trained.add(cmp.Or(d.name, string(spec.Name)), visited, d.sample.Pass)
	if job != d.job && d.name == "" {
		d.job.CountAndCheck(visited)
	}
	switch r.Path.Reason {
	case path.GivenUp:
		return nil, nil
	case path.NotFinite:
		return nil, d.sample.OutOfRange()
	}
	return resultOf(d, r, solution, spec, m.begin)
}

func solve(r *method.Run, spec *method.Spec) *method.Solution {
	s := r.Objective.Sample
	switch {
	case s.Constant():
		return method.FitOneClass(r)
	case s.Transductive() || spec.Direct():
		return spec.Fit(r)
	case s.All.Unlabeled == 0:
		r.Path.Trace.Warn(warning.NoUnlabeled)
	case s.All.Unlabeled == 1:
		r.Path.Trace.Warn(warning.OneUnlabeled)
	}
	return method.Find(method.Supervised).Fit(r)
}

func resultOf(d *Data, r *method.Run, solution *method.Solution, spec *method.Spec, begin start) (*fitted, error) {
	out := &fitted{data: d, spec: spec, trace: r.Path.Trace, origin: begin.origin}
	if spec.Name == method.Mixture { // it has no objective of the fit
		out.Result = &Result{Model: modelOf(d, r, solution, 0)}
		return out, d.sample.CheckFinite(0, solution.Coef, solution.Intercept)
	}
	value := 0.0
	if spec.UsesProbabilities && d.sample.Transductive() && !d.sample.Constant() {
		value = r.Path.Trace.Objective(0)
	} else {
		if part := d.thresholdPart(spec); part > 0 {
			out.moved = moveIntercepts(r, solution, part)
		}
		value, _ = r.Objective.Value(solution.Loss, solution.Regularizer, solution.Score(r.Objective))
		checkEnd(r, solution)
	}
	err := d.sample.CheckFinite(value, solution.Coef, solution.Intercept, solution.Outputs, solution.SoftLabels)
	if err != nil {
		return nil, err
	}
	out.Result = &Result{Model: modelOf(d, r, solution, value), Returned: string(spec.Name), Alpha: d.options.Alpha,
		Weight: d.sample.Options.UnlabeledWeight, Loss: string(d.options.Loss),
		Transduction:  transduced(d.sample, solution.Score(r.Objective)),
		Distributions: distributions(d, solution.SoftLabels)}
	if r.Origin != nil {
		out.origin = sample.Selection{Rows: d.sample.Unlabeled, Class: r.Origin, Weights: d.sample.UnlabeledRows}
	}
	if d.named.SoftLabels && !spec.SoftLabels && !spec.Direct() { // the start was by another method
		out.Distributions = distributions(d, make([]float64, len(d.sample.Unlabeled)*r.Objective.Classes))
		out.harden()
	}
	return out, out.settleThresholds()
}

func (d *Data) newRun(job *work.Job, spec *method.Spec, m Member) *method.Run {
	warm := m.begin.model != nil
	o, atOnce := d.objective(job, spec), warm || m.bound > 0 && d.atOnce()
	if warm {
		o.Start = d.sample.Packed(m.begin.model)
	} else if spec.Name == method.Supervised {
		o.Start = d.near
	}
	options := d.options
	options.Tol = cmp.Or(m.tol, options.Tol)
	// columns of the method of the options; the levels of another method that runs for it are left out
	trace := &path.Trace{Job: job, Unit: d.sample.Pass, Before: max(d.before, m.begin.steps), Level: d.named.Level,
		Share: "share_distance", NoLevel: d.named.Level != spec.Level, WithEntropy: d.named.SoftLabels,
		Warnings: slices.Clone(d.warnings)}
	if d.sample.Paired() {
		trace.Share = "positive_share"
	}
	p := &path.Path{Trace: trace, Limits: path.NewLimits(options.Tol, options.MaxIter, warm), AtEnd: warm}
	if atOnce {
		p.Bound = m.bound
	}
	return &method.Run{Options: &options, Objective: o, Costs: belief.NewCosts(o), Path: p, Soft: d.aside(),
		Guessed: d.guessed(), Settled: m.settled, AtOnce: atOnce, Scores: m.scores}
}

func (d *Data) objective(job *work.Job, spec *method.Spec) *objective.Objective {
	l, paired := d.options.Loss.Spec(), d.sample.Paired()
	o := &objective.Objective{Sample: d.sample, Job: job, Classes: d.sample.Classes(), Scores: d.scores,
		Prior: d.prior.Shares, Alpha: d.options.Alpha, Weight: d.options.UnlabeledWeight, Loss: l.Of(paired),
		Smoothings: l.Smoothings, OwnLoss: spec.OwnLoss != nil,
		Centered: d.options.FitIntercept && d.sample.Transductive() && d.balance(spec) == "mean" && d.carries == 1 &&
			(spec.OwnLoss == nil || d.options.UnlabeledWeight >= 1)} // smaller scores of rows that decide less are no shares
	if own := d.named.OwnLoss; own != nil { // the supervised classifier beside it has that loss, too
		o.Loss = func(float64) loss.Classes { return own(paired) }
	}
	return o
}
