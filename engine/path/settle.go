package path

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/minimize"
)

// SettleRounds bounds the rounds of settling.
const SettleRounds = 100

// Settle is the last step: it settles hard labels at full weight and sharpens the solution; changed: labels before it.
func (p *Path) Settle(
	solve Solver, labels Belief, sharpen func(minimize.Outcome) minimize.Outcome, changed int, historyLevel float64,
) {
	switched, settled := p.settle(solve, labels)
	p.Last = sharpen(p.Last)
	p.Steps++
	if !settled && !p.Reason.Early() {
		p.Reason = ending.Unsettled
	}
	p.Record(historyLevel, changed+switched)
}

// settle solves at hard labels, relabels, and repeats until no label changes or the risk no longer falls (rows of
// unequal weight): first loosely, then exactly. Labels and weights are then best given each other, if settled.
func (p *Path) settle(solve Solver, labels Belief) (changed int, settled bool) {
	limits, last := p.Limits.Settle, math.Inf(1)
	for range SettleRounds {
		labels.Enter(1)
		p.Last = solve(limits)
		switched := 0
		if p.Last.Finite() && p.Last.Value < last {
			switched, _ = labels.Relabel()
			switched = p.Job.Count(switched)
			changed += switched
		}
		last = p.Last.Value
		exact := limits.Tolerance <= p.Limits.Tol
		switch {
		case switched > 0 && exact:
			limits.MaxSteps = 1
		case switched > 0:
		case exact && (p.Last.Converged || limits.MaxSteps > 1):
			return changed, true
		default:
			limits, last = p.Limits.Final, math.Inf(1)
		}
	}
	labels.Enter(1)
	p.Last = solve(p.Limits.Final)
	return changed, false
}
