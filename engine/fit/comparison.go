package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/trace"
)

// compare is what method auto adds to annealing: at its end it is compared with switching, whose solution takes its
// place where that is better.
//
//	Problem  that of the fit, by both methods, each with the balance that suits it if none is given. Objectives
//	         are those before the thresholds move, which can cost either of them more than they differ by
//	Source   ours. Soft labels can lead away from a solution that is at hand: the labels of the supervised solution at
//	         the class shares, settled. Where λ' is at most mostOverAlpha α switching settles these at once: that ends
//	         within 3 % of the objective of the whole run after half of its passes (text1, pcmac, topics of Reuters and
//	         RCV1, k1b, MNIST). Where it is above, labels settled at once can end at twice that, and the whole run is
//	         made. The maxent loss is left out: annealing ended lower in all of 36 fits (six sets, α = 1e-6 to 1e-3)
//	Stops    labels settled at once are given up, before the exact solve, where they will not end below better times the
//	         objective of annealing
//	Cost     at the default alpha, in passes: 0.08 to 0.15 of annealing where switching is given up (text1, pcmac,
//	         comp.*, 20 Newsgroups), at most 0.6 where it is not
func compare(s *sample.Sample, p sample.Problem, options method.Options, found *Result) {
	rival := options.Traits().Rival
	asked := rival != "" && options.Loss != method.Maxent && !found.warm
	if !asked || !found.reason.Own() {
		return
	}
	job, below := s.Job.Silent(), better*lastOf(found.History, "objective")
	options.Method, options.MaxSwitches = rival, 0
	var other *Result
	err := s.Job.Try(func() (err error) {
		other, err = fit(s, p, run{job: job, options: options, rival: below})
		return err
	})
	s.Job.CountAndCheck(job.Visited())
	if err != nil || other != nil && (!other.reason.Own() || lastOf(other.History, "objective") >= below) {
		other = nil // the solution of annealing is there
	}
	conclude(s, found, other)
}

// better is the part of the objective of annealing below which switching has to end: a smaller difference is no sign of
// better classes.
const better = 0.99

// direct reports whether switching settles the labels of the supervised solution at once.
func (t *task) direct() bool {
	return t.rival > 0 && t.Options.UnlabeledWeight <= mostOverAlpha*t.Options.Alpha
}

// hopeless reports whether labels settled at once will not end below the rival: once the objective falls, each step
// takes less than half of what the step before has taken (measured on the sets above).
func (t *task) hopeless() bool {
	if !t.direct() || t.trace.Steps() < 2 {
		return false
	}
	last, fall := t.trace.Objective(0), t.trace.Objective(1)-t.trace.Objective(0)
	return fall >= 0 && last-fall > t.rival
}

// conclude adds the comparison to the history as a last step, and puts the better result in place; nil: there is none.
func conclude(s *sample.Sample, found, other *Result) {
	model, switched, passes := found.Model, 0, s.Trace(s.Job).Passes()
	last := func(column string) float64 { return lastOf(found.History, column) }
	if other != nil {
		switched = s.Job.Count(differences(found.Transduction, other.Transduction))
		found.Returned, found.Transduction = other.Returned, other.Transduction
		model.Coef, model.Intercept = other.Model.Coef, other.Model.Intercept
		model.Objective, model.Warnings = other.Model.Objective, other.Model.Warnings
		if found.reason == ending.NotConverged || other.reason == ending.NotConverged {
			found.reason, model.Termination = other.reason, other.Model.Termination
		}
		certain(s, found)
		last = func(column string) float64 { return lastOf(other.History, column) }
	}
	model.Iterations++
	for k, column := range found.History {
		value := last(column.Name)
		switch column.Name {
		case "temperature", "entropy":
			value = 0
		case "n_switched":
			value = float64(switched)
		case "n_passes":
			value = passes
		}
		found.History[k].Values = append(column.Values, value)
	}
	s.Job.Report(model.Iterations, lastOf(found.History, "objective"), 0, switched, passes)
}

// certain makes the soft labels of the unlabeled rows those that the result has for certain.
func certain(s *sample.Sample, result *Result) {
	classes := result.Model.Classes
	for _, i := range s.Unlabeled {
		row := result.Distributions[int(i)*classes : (int(i)+1)*classes]
		clear(row)
		row[result.Transduction[i]] = 1
	}
}

func lastOf(history []trace.Column, name string) float64 {
	k := slices.IndexFunc(history, func(c trace.Column) bool { return c.Name == name })
	if k < 0 {
		return 0
	}
	values := history[k].Values
	return values[len(values)-1]
}
