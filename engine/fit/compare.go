package fit

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/work"
)

// compare replaces a result of method auto by that of another start or another method where that is better.
func compare(current *fitted, begin start) *fitted {
	x := current.setting
	compared := x.named.Compares != "" && x.problem.Start == nil && !x.options.Loss.Spec().Free
	if !compared || !current.reason.Natural() {
		return current
	}
	if replaced := mixes(x) && replacedBy(x, current, mixed); !replaced && begin.model == nil {
		replacedBy(x, current, settled)
	}
	return current
}

// settled is the fit by switching, with which method auto compares annealing.
//
//	Problem  that of the fit, by both methods, each with the balance that suits it if none is given. Objectives are
//	         compared before the thresholds move, which can change either by more than their difference
//	Source   ours. Soft labels can lead away from a solution nearby: the labels of the supervised solution at the class
//	         shares, settled. Where λ' is at most method.MaxOverAlpha α switching settles these at once, otherwise it
//	         makes its whole run; not for the maxent loss (docs/notes/second-start.md)
//	Stops    before the exact solve where the labels will not end below muchBetter times the objective of annealing
//	Cost     at the default alpha 0.08 to 0.15 of the passes of annealing, at most 0.6
func settled(x *setting, job *work.Job, current *fitted) (*fitted, error) {
	second := *x
	second.named, second.options.MaxSwitches = method.Find(x.named.Compares), 0
	return run(&second, job, start{}, current.bound())
}

// replacedBy replaces the result by that of another fit where that is better, and reports whether it is.
func replacedBy(
	x *setting, current *fitted, fit func(x *setting, job *work.Job, current *fitted) (*fitted, error),
) bool {
	job := x.sample.Job.Silent()
	var better *fitted
	err := x.sample.Job.Try(func() (err error) {
		better, err = fit(x, job, current)
		return err
	})
	x.sample.Job.CountAndCheck(job.Visited())
	improves := err == nil && better != nil && better.reason.Natural() && better.last < current.bound()
	switched, end := 0, current
	if improves {
		switched, end = x.sample.Job.Count(belief.Differences(current.Transduction, better.Transduction)), better
		replace(x, current, better)
	}
	current.Model.Iterations++
	current.trace.RecordEnd(end.trace, switched) // the last step of the history
	return improves
}

// muchBetter is the part of the objective below which another fit has to end: less is no sign of better classes.
const muchBetter = 0.99

// bound is the objective below which another fit has to end.
func (f *fitted) bound() float64 { return muchBetter * f.last }

func replace(x *setting, current, better *fitted) {
	model := current.Model
	current.spec, current.Returned, current.Transduction = better.spec, better.Returned, better.Transduction
	model.Coef, model.Intercept = better.Model.Coef, better.Model.Intercept
	model.Objective, model.Warnings = better.Model.Objective, better.Model.Warnings
	if current.reason == ending.NotConverged || better.reason == ending.NotConverged {
		current.reason, model.Termination = better.reason, better.Model.Termination
	}
	harden(x.sample, current.Distributions, current.Transduction)
}
