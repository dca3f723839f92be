package transduction

import "slices"

// compare compares annealing with switching at its end, and puts the solution of switching in place where that is
// better.
//
//	Problem  that of the fit, by both methods, each with the balance that suits it if none is given. Objectives are
//	         those before the thresholds move, which can cost either of them more than they differ by
//	Source   ours. Soft labels can lead away from a solution that is at hand: the labels of the supervised solution at
//	         the class shares, settled. Where λ' is at most mostOverAlpha α switching settles these at once: that ends
//	         within 3 % of the objective of the whole run after half of its passes (text1, pcmac, topics of Reuters and
//	         RCV1, k1b, MNIST). Where it is above, labels settled at once can end at twice that, and the whole run is
//	         made. The maxent loss is left out: annealing ended lower in all of 36 fits (six sets, α = 1e-6 to 1e-3)
//	Stops    labels settled at once are given up, before the exact solve, where they will not end below better times the
//	         objective of annealing
//	Cost     at the default alpha, in passes: 0.08 to 0.15 of annealing where switching is given up (text1, pcmac,
//	         comp.*, 20 Newsgroups), at most 0.6 where it is not
func (s *sample) compare(p Problem, found *Result) {
	asked := s.options.Method == "annealing" && s.options.Loss != "maxent" && s.start == nil
	if !asked || !slices.Contains(ended, found.Model.Termination) {
		return
	}
	other := *s
	other.options.Method, other.options.MaxSwitches = "switching", 0
	other.rival = better * lastOf(found.History, "objective")
	other.job, other.warnings, other.history = s.job.Aside(), slices.Clone(s.ofPrior), history{}
	result, err := other.fit(p)
	s.job.Visit(other.job.Visited())
	if err != nil || result != nil && (!slices.Contains(ended, result.Model.Termination) ||
		lastOf(result.History, "objective") >= other.rival) {
		result = nil // the solution of annealing is there
	}
	s.conclude(found, result)
}

// ended are the ends of a fit that has come to one.
var ended = []string{"entropy", "temperature", "no_switch", "not_converged"}

// better is the part of the objective of annealing below which switching has to end: a smaller difference is no sign of
// better classes.
const better = 0.99

// direct says that switching settles the labels of the supervised solution at once.
func (s *sample) direct() bool {
	return s.rival > 0 && s.options.UnlabeledWeight <= mostOverAlpha*s.options.Alpha
}

// hopeless says that labels settled at once will not end below the rival: once the objective falls, each step takes
// less than half of what the step before has taken (measured on the sets above).
func (s *sample) hopeless() bool {
	n := len(s.history.objective)
	if !s.direct() || n < 2 {
		return false
	}
	last, fall := s.history.objective[n-1], s.history.objective[n-2]-s.history.objective[n-1]
	return fall >= 0 && last-fall > s.rival
}

// conclude adds the comparison to the history as a last step, and puts the better result in place; nil: there is none.
func (s *sample) conclude(found, other *Result) {
	model, switched := found.Model, 0
	last := func(column string) float64 { return lastOf(found.History, column) }
	if other != nil {
		switched = differences(found.Transduction, other.Transduction)
		found.Returned, found.Transduction = other.Returned, other.Transduction
		model.Coef, model.Intercept = other.Model.Coef, other.Model.Intercept
		model.Objective, model.Warnings = other.Model.Objective, other.Model.Warnings
		if model.Termination == "not_converged" || other.Model.Termination == "not_converged" {
			model.Termination = other.Model.Termination
		}
		s.harden(found)
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
			value = s.passes()
		}
		found.History[k].Values = append(column.Values, value)
	}
	s.job.Report(model.Iterations, last("objective"), 0, switched, s.passes())
	s.job.Report(model.Iterations, lastOf(found.History, "objective"), 0, switched, s.passes())
}

// harden makes the soft labels of the unlabeled rows those that the result has for certain.
func (s *sample) harden(result *Result) {
	classes := len(result.Distributions) / s.rows.Rows()
	for _, i := range s.unlabeled {
		row := result.Distributions[int(i)*classes : (int(i)+1)*classes]
		clear(row)
		row[result.Transduction[i]] = 1
	}
}

func lastOf(history []Column, name string) float64 {
	k := slices.IndexFunc(history, func(c Column) bool { return c.Name == name })
	if k < 0 {
		return 0
	}
	values := history[k].Values
	return values[len(values)-1]
}
