package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// admit lets the unlabeled rows have a weight, and so scores.
func (t *task) admit(r *risk.Risk) {
	for k, i := range t.Unlabeled {
		r.Cost[i] = t.UnlabeledWeight[k]
	}
	r.UpdateSupport()
}

// harden gives the unlabeled rows certain labels and a part of their weight.
func (t *task) harden(r *risk.Risk, labels []int32, part float64) {
	t.label(r, labels)
	for k, i := range t.Unlabeled {
		r.Cost[i] = part * t.Options.UnlabeledWeight * t.UnlabeledWeight[k]
	}
}

// cheapest changes labels [units] to the best ones at the last costs that keep the class counts, or the shares where
// rows have unequal weights that are no copies.
func (t *task) cheapest(labels []int32) {
	labeling.CheapestLabels(t.Job, labels, t.unitCosts(), t.unitWeights(), t.prior)
}

// relabel changes labels to the best ones at the current scores that keep the counts, and returns how many it has
// changed on this machine. Where max_switches limits the exchanges between two classes, it makes those that lower the
// costs.
func (t *task) relabel(labels []int32, r *risk.Risk) int {
	t.measure(r)
	t.before = append(t.before[:0], labels...)
	if t.Options.MaxSwitches == 0 {
		t.cheapest(labels)
	} else {
		labeling.Switch(labels, t.unitCosts(), t.classes, t.Options.MaxSwitches)
	}
	return differences(labels, t.before)
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

// finish is the last step: it settles the labels at full weight. changed are the labels changed on the way there,
// level is what the history says of the step.
func (t *task) finish(
	r *risk.Risk, newton *minimize.Newton, labels []int32, changed int, level float64, end stop,
) solution {
	outcome, switched, settled := t.settle(r, newton, labels)
	end.steps++
	if !settled && !end.reason.Early() {
		end.reason = ending.Unsettled
	}
	t.note(r, level, changed+switched, 0)
	return t.read(r, outcome, end)
}

const settleRounds = 100

// settle solves at hard labels, relabels, and repeats until no label changes or the risk no longer falls (rows of
// unequal weight): first loosely, then exactly, at last with less and less smoothing where the loss has any. Labels and
// weights are then each best given the other, unless settleRounds rounds were not enough. changed counts the labels
// changed.
func (t *task) settle(
	r *risk.Risk, newton *minimize.Newton, labels []int32,
) (outcome minimize.Outcome, changed int, settled bool) {
	limits, last := t.settleLimits(), math.Inf(1)
	for range settleRounds {
		t.harden(r, labels, 1)
		outcome = newton.Minimize(r, limits)
		switched := 0
		if finite(outcome) && outcome.Value < last {
			switched = t.Job.Count(t.relabel(labels, r))
			changed += switched
		}
		last = outcome.Value
		exact := limits.Tolerance <= t.Options.Tol
		switch {
		case switched > 0 && exact:
			limits.MaxSteps = 1
		case switched > 0:
		case exact && (outcome.Converged || limits.MaxSteps > 1):
			return t.sharpen(r, newton, outcome), changed, true
		default:
			limits, last = t.finalLimits(), math.Inf(1)
		}
	}
	t.harden(r, labels, 1)
	return t.sharpen(r, newton, newton.Minimize(r, t.finalLimits())), changed, false
}

// The hinge of Crammer & Singer is smoothed: coarsely on the way, and at the end by these values in turn. The
// smoothed hinge is above the hinge by at most smoothing * log K.
var smoothings = []float64{0.1, 0.03, 0.01, 0.003, 0.001}

// sharpen lets the smoothing of the hinge of Crammer & Singer fall.
func (t *task) sharpen(r *risk.Risk, newton *minimize.Newton, outcome minimize.Outcome) minimize.Outcome {
	if t.Options.Loss != method.CrammerSinger {
		return outcome
	}
	for _, smoothing := range smoothings[1:] {
		r.SetLoss(t.loss(smoothing))
		outcome = newton.Minimize(r, t.finalLimits())
	}
	return outcome
}
