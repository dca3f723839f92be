package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/work"
)

// compare puts, with method auto, the better of two starts or of two methods in the place of what was found.
func compare(found *fitted, begin from) *fitted {
	x := found.setting
	compared := x.named.Compares != "" && x.problem.Start == nil && !x.options.Loss.Spec().Free
	if !compared || !found.reason.Natural() {
		return found
	}
	if replaced := mixes(x) && replacedBy(x, found, mixed); !replaced && begin.model == nil {
		replacedBy(x, found, settled)
	}
	return found
}

// settled is what method auto compares annealing with: switching, whose solution takes its place where that is better.
//
//	Problem  that of the fit, by both methods, each with the balance that suits it if none is given. Objectives
//	         are taken before the thresholds move, which can cost either of them more than they differ by
//	Source   ours. Soft labels can lead away from a solution that is at hand: the labels of the supervised solution at
//	         the class shares, settled. Where λ' is at most method.MostOverAlpha α switching settles these at once: that
//	         ends within 3 % of the objective of the whole run after half of its passes (text1, pcmac, topics of Reuters
//	         and RCV1, k1b, MNIST). Where it is above, labels settled at once can end at twice that, and the whole run is
//	         made. The maxent loss is left out: annealing ended lower in all of 36 fits (six sets, α = 1e-6 to 1e-3)
//	Stops    labels settled at once are given up, before the exact solve, where they will not end below muchBetter times the
//	         objective of annealing
//	Cost     at the default alpha, in passes: 0.08 to 0.15 of annealing where switching is given up (text1, pcmac,
//	         comp.*, 20 Newsgroups), at most 0.6 where it is not
func settled(x *setting, job *work.Job, found *fitted) (*fitted, error) {
	second := *x
	second.named, second.options.MaxSwitches = x.named.Compared(), 0
	return run(&second, job, from{}, found.bound())
}

// replacedBy puts the result of another fit in place where that is better, and reports whether it is.
func replacedBy(
	x *setting, found *fitted, other func(x *setting, job *work.Job, found *fitted) (*fitted, error),
) bool {
	job := x.sample.Job.Silent()
	var better *fitted
	err := x.sample.Job.Try(func() (err error) {
		better, err = other(x, job, found)
		return err
	})
	x.sample.Job.CountAndCheck(job.Visited())
	if err != nil || better != nil && (!better.reason.Natural() || better.last >= found.bound()) {
		better = nil // the solution of annealing is there
	}
	addComparison(x, found, better)
	return better != nil
}

// muchBetter is the part of the objective of annealing below which another fit has to end: a smaller difference is no sign
// of better classes.
const muchBetter = 0.99

// bound is the objective below which another fit has to end.
func (f *fitted) bound() float64 { return muchBetter * f.last }

// addComparison adds the comparison to the history as a last step, and puts the better result in place; nil: there is
// none.
func addComparison(x *setting, found, other *fitted) {
	job, model, switched, last := x.sample.Job, found.Model, 0, found.History
	if other != nil {
		switched = job.Count(differences(found.Transduction, other.Transduction))
		last = other.History
		replace(x, found, other)
	}
	passes := (&trace.Trace{Job: job, Unit: x.sample.Pass}).Passes()
	model.Iterations++
	for k, column := range found.History {
		found.History[k].Values = append(column.Values, finalEntry(column.Name, last, float64(switched), passes))
	}
	job.Report(x.before+found.before+model.Iterations, lastOf(found.History, "objective"), 0, switched, passes)
}

// replace puts the model of another fit in place.
func replace(x *setting, found, other *fitted) {
	model := found.Model
	found.spec, found.Returned, found.Transduction = other.spec, other.Returned, other.Transduction
	model.Coef, model.Intercept = other.Model.Coef, other.Model.Intercept
	model.Objective, model.Warnings = other.Model.Objective, other.Model.Warnings
	if found.reason == ending.NotConverged || other.reason == ending.NotConverged {
		found.reason, model.Termination = other.reason, other.Model.Termination
	}
	harden(x.sample, found.Distributions, found.Transduction)
}

// finalEntry is that of a column of the history after a comparison: the last one of the better fit, at hard labels.
func finalEntry(column string, history []trace.Column, switched, passes float64) float64 {
	switch column {
	case "temperature", "entropy":
		return 0
	case "n_switched":
		return switched
	case "n_passes":
		return passes
	}
	return lastOf(history, column)
}

func lastOf(history []trace.Column, name string) float64 {
	k := slices.IndexFunc(history, func(c trace.Column) bool { return c.Name == name })
	if k < 0 {
		return 0
	}
	values := history[k].Values
	return values[len(values)-1]
}

// differences counts the labels that differ.
func differences(a, b []int32) int {
	count := 0
	for k := range a {
		if a[k] != b[k] {
			count++
		}
	}
	return count
}
