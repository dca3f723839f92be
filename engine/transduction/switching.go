package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// switching is the TSVM with multiple switching.
//
//	Problem  min over w and y_j in {-1,+1}  α/2 |w|² + Σ_i s_i ξ(y_i f_i) + λ' Σ_j s_j ξ(y_j f_j)  subject to the
//	         number of positive y_j, r of all; λ' raised in steps to its value
//	Symbols  as in anneal; S largest number of pairs switched at a time
//	Source   Sindhwani & Keerthi 2006 section 3.1. Differences: the first labels come from the supervised solution,
//	         and w goes on from there instead of from zero; on the way w is solved inexactly
//	Stops    at each λ': no pair switched; at the last an exact solve, and again while that makes pairs switch;
//	         max_iter steps, of which that at the last λ' is one
//	Cost     a level: a few Newton steps, see minimize
func (t *task) switching() solution {
	margin := loss.SquaredHinge{}
	r, newton, start := t.begin()
	if lost(start) {
		return t.read(r, start, ending{reason: "not_finite"})
	}
	if t.goesOnSoftly() {
		return t.switchingOn(r, newton)
	}
	scores := make([]float64, t.rows.Rows())
	r.ScoreAll(scores)
	t.noteSupervised(sideOf(scores))
	positive := make([]bool, len(t.unlabeled))
	t.topLabels(positive, scores)
	end := ending{reason: "no_switch"}
	for _, level := range t.levels() {
		for !t.spent(&end) {
			t.hardCosts(r, positive, level)
			if outcome := newton.Minimize(r, t.switchLimits()); lost(outcome) {
				return t.read(r, outcome, ending{reason: "not_finite"})
			}
			switched := t.relabel(positive, r.Scores())
			end.steps++
			t.record(r.Regularizer(), r.Scores(), margin, level*t.options.UnlabeledWeight, switched, 0)
			if t.hopeless() {
				return solution{end: ending{reason: givenUp}}
			}
			if switched == 0 {
				break
			}
		}
	}
	return t.finish(r, newton, positive, 0, t.options.UnlabeledWeight, end)
}

// finish is the last step: it settles the labels at full weight. changed are the labels changed on the way there,
// level is what the history says of the step.
func (t *task) finish(
	r *risk.Risk, newton *minimize.Newton, positive []bool, changed int, level float64, end ending,
) solution {
	outcome, switched, settled := t.settle(r, newton, positive)
	end.steps++
	if !settled && !end.early() {
		end.reason = "unsettled"
	}
	t.record(r.Regularizer(), r.Scores(), loss.SquaredHinge{}, level, changed+switched, 0)
	return t.read(r, outcome, end)
}

// λ' starts at firstLevel of its value and is raised by this factor. Keerthi et al. 2012 start at 1e-4: below 0.01
// hardly a label switches.
const (
	firstLevel      = 0.01
	raise           = 3.0
	switchLooseness = 100.0 // solves on the way may end at this many times tol
)

// settle solves at hard labels, relabels, and repeats until no label changes or the risk no longer falls (rows of
// unequal weight): first loosely, then by single Newton steps, and at the end exactly. Labels and weights are then each
// best given the other, unless settleRounds rounds were not enough. changed counts the labels changed.
func (t *task) settle(
	r *risk.Risk, newton *minimize.Newton, positive []bool,
) (outcome minimize.Outcome, changed int, settled bool) {
	limits, last := t.settleLimits(t.pathLimits()), math.Inf(1)
	for range settleRounds {
		t.hardCosts(r, positive, 1)
		outcome = newton.Minimize(r, limits)
		switched := 0
		if outcome.Value < last {
			switched = t.relabel(positive, r.Scores())
		}
		changed += switched
		exact := limits.Tolerance <= t.options.Tol
		last = outcome.Value
		switch {
		case switched > 0 && exact:
			limits.MaxSteps = 1
		case switched > 0:
		case exact && (outcome.Converged || limits.MaxSteps > 1):
			return outcome, changed, true
		case exact:
			limits, last = t.finalLimits(), math.Inf(1)
		default:
			limits, last = t.exactSteps(), math.Inf(1)
		}
	}
	t.hardCosts(r, positive, 1)
	return newton.Minimize(r, t.finalLimits()), changed, false
}

// relabel switches labels of unlabeled rows at these scores, all that help or at most max_switches pairs, and
// returns the number of labels changed. The preference falls with the score, so the best labels are those of the
// highest scores.
func (t *task) relabel(positive []bool, scores []float64) int {
	if t.options.MaxSwitches > 0 {
		g := make([]float64, len(positive))
		t.preferences(g, scores, loss.SquaredHinge{})
		return 2 * labeling.Switch(positive, g, t.options.MaxSwitches)
	}
	if t.best == nil {
		t.best = make([]bool, len(positive))
	}
	t.topLabels(t.best, scores)
	changed := 0
	for k, label := range t.best {
		if positive[k] != label {
			positive[k] = label
			changed++
		}
	}
	return changed
}

// hardCosts makes every unlabeled row cost level times its weight on the side of its label.
func (t *task) hardCosts(r *risk.Risk, positive []bool, level float64) {
	t.job.EachRow(len(positive), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i, cost := t.unlabeled[k], level*t.options.UnlabeledWeight*t.unlabeledWeight[k]
			r.Plus[i], r.Minus[i] = 0, cost
			if positive[k] {
				r.Plus[i], r.Minus[i] = cost, 0
			}
		}
	})
	if !t.joined {
		r.Recost()
		t.joined = true
	}
}
