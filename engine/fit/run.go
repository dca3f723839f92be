package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/work"
)

// run is one run of a method; nil where it was given up because it would not end below the bound.
func run(x *setting, job *work.Job, begin start, bound float64) (*fitted, error) {
	spec := begin.spec
	if spec == nil {
		spec = x.named.First()
	}
	before := job.Visited()
	r := x.newRun(job, spec, begin, bound)
	solution := solve(r, spec)
	x.trained.add(string(spec.Name), 1, job.Visited()-before, x.sample.Pass)
	switch r.Path.Reason {
	case ending.GivenUp:
		return nil, nil
	case ending.NotFinite:
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
	warnSupervised(r)
	return method.FitSupervised(r)
}

// resultOf checks a solution and makes the result of it.
func resultOf(x *setting, r *method.Run, solution *method.Solution, spec *method.Spec, begin start) (*fitted, error) {
	value := 0.0
	if spec.UsesProbabilities && x.sample.Transductive() && !x.sample.Constant() {
		value = r.Path.Trace.Objective(0)
	} else {
		value = finish(x, r, solution, x.movesThreshold(spec))
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
		out.origin = origin{x.sample.Unlabeled, r.Origin, x.sample.UnlabeledRows}
	}
	if r.Path.Trace.Steps() > 0 {
		out.last = r.Path.Trace.Objective(0)
	}
	if x.named.SoftLabels && !spec.SoftLabels { // the start was by another method
		out.Distributions = distributions(x, make([]float64, len(x.sample.Unlabeled)*r.Objective.Classes))
		harden(x.sample, out.Distributions, out.Transduction)
	}
	return out, nil
}
