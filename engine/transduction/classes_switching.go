package transduction

import (
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// switching is the transductive method of many classes with hard labels.
//
//	Problem  that of classTask with labels q_jy of 0 or 1; λ' raised in steps to its value
//	Symbols  c_jy = λ' ξ(s_j, y) cost of class y for unlabeled row j; n(y) class counts, from φ by largest remainder
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 1 (greedy start, C^u annealed) and 2 (switching between
//	         pairs of classes). Differences: W goes on from the supervised solution by one Newton step a relabeling;
//	         C^u starts at 0.01, below which hardly a label switches; the last labels are the best ones for their
//	         scores (transport), not only best under switches of two
//	Stops    at each λ': no label changes; at the last an exact solve, and again while that changes labels; max_iter
//	Cost     a level: a few Newton steps, see minimize
func (t *classTask) switching() classSolution {
	r, newton, start := t.begin()
	if lost(start) {
		return t.readClasses(r, start, ending{reason: "not_finite"})
	}
	if t.goesOnSoftly() {
		return t.switchingOn(r, newton)
	}
	labels := make([]int32, len(t.unlabeled))
	t.admit(r)
	t.noteSupervised(likeliestOf(r.Score))
	t.measure(r)
	labeling.Greedy(labels, t.costs, t.counts)
	labeling.SwitchClasses(labels, t.costs, t.classes, 0)
	end := ending{reason: "no_switch"}
	for _, level := range t.levels() {
		for !t.spent(&end) {
			t.harden(r, labels, level)
			if outcome := newton.Minimize(r, t.switchLimits()); lost(outcome) {
				return t.readClasses(r, outcome, ending{reason: "not_finite"})
			}
			switched := t.relabel(labels, r, false)
			end.steps++
			t.note(r, level*t.options.UnlabeledWeight, switched, 0)
			if t.hopeless() {
				return classSolution{end: ending{reason: givenUp}}
			}
			if switched == 0 {
				break
			}
		}
	}
	return t.finish(r, newton, labels, 0, t.options.UnlabeledWeight, end)
}

// admit computes the scores of the unlabeled rows, which have had no part in the risk so far.
func (t *classTask) admit(r *risk.Classes) {
	for k, i := range t.unlabeled {
		r.Cost[i] = t.unlabeledWeight[k]
	}
	r.Recost()
}

// harden gives the unlabeled rows certain labels and a weight.
func (t *classTask) harden(r *risk.Classes, labels []int32, level float64) {
	for k, i := range t.unlabeled {
		r.Label[i] = labels[k]
		r.Cost[i] = level * t.options.UnlabeledWeight * t.unlabeledWeight[k]
	}
}

// relabel changes labels where that lowers the costs at the current scores, and returns how many have changed. Best
// labels are the cheapest of all that keep the counts; otherwise those that no exchange makes cheaper, between pairs of
// classes only where max_switches limits it.
func (t *classTask) relabel(labels []int32, r *risk.Classes, best bool) int {
	t.measure(r)
	t.best = append(t.best[:0], labels...)
	if best {
		t.cheapest(labels, t.costs)
	} else {
		labeling.SwitchClasses(labels, t.costs, t.classes, t.options.MaxSwitches)
	}
	changed := 0
	for k, y := range labels {
		if y != t.best[k] {
			changed++
		}
	}
	return changed
}

// finish is the last step: it settles the labels at full weight. changed are the labels changed on the way there,
// level is what the history says of the step.
func (t *classTask) finish(
	r *risk.Classes, newton *minimize.Newton, labels []int32, changed int, level float64, end ending,
) classSolution {
	outcome, switched, settled := t.settle(r, newton, labels)
	end.steps++
	if !settled && !end.early() {
		end.reason = "unsettled"
	}
	t.note(r, level, changed+switched, 0)
	return t.readClasses(r, outcome, end)
}

// settle solves at hard labels, relabels, and repeats until no label changes: first by single steps, then exactly,
// at last with less and less smoothing where the loss has any.
func (t *classTask) settle(
	r *risk.Classes, newton *minimize.Newton, labels []int32,
) (outcome minimize.Outcome, changed int, settled bool) {
	limits := t.settleLimits(t.switchLimits())
	for round := range settleRounds {
		t.harden(r, labels, 1)
		outcome = newton.Minimize(r, limits)
		switched := 0
		if round < settleRounds-1 && !lost(outcome) {
			switched = t.relabel(labels, r, true)
			changed += switched
		}
		exact := limits.Tolerance <= t.options.Tol
		switch {
		case switched > 0 && exact:
			limits.MaxSteps = 1
		case switched > 0:
		case exact && (outcome.Converged || limits.MaxSteps > 1):
			return t.sharpen(r, newton, outcome), changed, true
		default:
			limits = t.finalLimits()
		}
	}
	t.harden(r, labels, 1)
	return t.sharpen(r, newton, newton.Minimize(r, t.finalLimits())), changed, false
}

// sharpen lets the smoothing of the hinge of Crammer & Singer fall.
func (t *classTask) sharpen(r *risk.Classes, newton *minimize.Newton, outcome minimize.Outcome) minimize.Outcome {
	if t.options.Loss != "crammer_singer" {
		return outcome
	}
	for _, smoothing := range smoothings[1:] {
		r.Loss = t.loss(smoothing)
		outcome = newton.Minimize(r, t.finalLimits())
	}
	return outcome
}
