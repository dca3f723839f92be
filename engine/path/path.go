// Package path is the outer loop of every method: minimize at the belief, relabel, record, go to the next level of a
// schedule; and settling, which ends a path at hard labels. It has the schedules, the record of a run and the reasons
// why a fit ends. Start at Path.Follow.
package path

import (
	"cmp"
	"math"

	"github.com/fewlabel/fewlabel/engine/minimize"
)

// A Belief has the labels of the unlabeled rows, hard or soft, and puts them into the objective.
type Belief interface {
	// Enter puts the labels into the objective at a level of the schedule.
	Enter(level float64)
	// Relabel renews the labels at the current scores. It returns the number of likeliest labels that have changed, and
	// the part of the mean entropy of the labels, in bits, of this machine.
	Relabel() (switched int, entropy float64)
}

// A Solver moves the point of an objective downhill within limits.
type Solver func(limits minimize.Limits) minimize.Outcome

// Path is the way of one run through the levels of its schedule.
type Path struct {
	Trace   *Trace
	Limits  Limits
	Measure func() (objective, share float64) // entries of the history at the current point
	Bound   float64                           // the run is given up if it will not end below this objective; 0: never
	AtEnd   bool                              // the first step has to be below the bound
	Rounds  int                               // of settling that are enough; 0: no less than all, see Unsettled

	Steps  int
	Reason Reason
	Last   minimize.Outcome // of the last solve
}

// Complete follows a schedule without settling. Its first step is always taken; an earlier reason to end early is kept.
func (p *Path) Complete(solve Solver, b Belief, s Schedule, limits minimize.Limits) {
	before := p.Reason
	if before == NotFinite {
		return
	}
	p.Reason = None
	p.step(solve, b, s, limits)
	p.Follow(solve, b, s, limits, 0)
	if before.Early() && p.Reason != NotFinite {
		p.Reason = before
	}
}

// Follow takes steps until the schedule ends, or this number of steps is left for what comes after, as Settle.
func (p *Path) Follow(solve Solver, b Belief, s Schedule, limits minimize.Limits, left int) {
	for p.Reason == None {
		switch {
		case p.Trace.Job.Stopped():
			p.Reason = Stopped
		case p.Trace.Before+p.Steps >= p.Limits.MaxIter-left:
			p.Reason = MaxIter
		default:
			p.step(solve, b, s, limits)
		}
	}
}

func (p *Path) step(solve Solver, b Belief, s Schedule, limits minimize.Limits) {
	level, historyLevel := s.Level()
	b.Enter(level)
	p.Steps++
	if p.Last = solve(limits); !p.Last.Finite() {
		p.Reason = NotFinite
		return
	}
	switched, entropy := b.Relabel()
	sums := []float64{float64(switched), entropy}
	p.Trace.Job.ReduceDeferred(sums)
	p.record(historyLevel, sums)
	if p.cannotBeat() {
		p.Reason = GivenUp
		return
	}
	p.Reason = s.Next(Step{Switched: int(sums[0]), Entropy: sums[1], Solve: p.Last})
}

// record adds a step to the history; sums are labels switched and entropy, completed by the reduction in Measure.
func (p *Path) record(level float64, sums []float64) {
	objective, share := p.Measure()
	p.Trace.Record(objective, level, int(sums[0]), share, sums[1])
}

// Record adds a step with the labels switched on all machines.
func (p *Path) Record(level float64, switched int) { p.record(level, []float64{float64(switched), 0}) }

// cannotBeat reports whether the path will not end below the bound. Each step lowers the objective by less than half of
// the step before; from a model near its end the first step is nearly all (docs/notes/second-start.md).
func (p *Path) cannotBeat() bool {
	steps := p.Trace.Steps()
	switch {
	case p.Bound == 0 || steps == 0:
		return false
	case steps == 1:
		return p.AtEnd && p.Trace.Objective(0) > p.Bound
	}
	last, fall := p.Trace.Objective(0), p.Trace.Objective(1)-p.Trace.Objective(0)
	return fall >= 0 && last-fall > p.Bound
}

type Limits struct {
	Tol     float64         // of the last solve
	MaxIter int             // outer steps
	Settle  minimize.Limits // of the first solves of settling hard labels
	Final   minimize.Limits // of the last solve
}

// NewLimits are the limits of a run. A warm run begins near its end: more conjugate gradients a step are cheaper there,
// and single steps before the last solve are enough.
func NewLimits(tol float64, maxIter int, warm bool) Limits {
	l := Limits{Tol: tol, MaxIter: maxIter, Final: minimize.Limits{Tolerance: tol, MaxSteps: 200}}
	if l.Settle = l.Way(1); warm {
		l.Final.Forcing = manySteps
		l.Settle = l.Final
		l.Settle.MaxSteps = 1
	}
	return l
}

const (
	Looseness = 100 // solves on the way may end at this many times tol
	Line      = 0.3 // fraction of the slope at which a line search on the way may end
)

const manySteps = 0.2 // forcing term for many conjugate gradients a step

// Start is for the supervised solution that a transductive method starts from.
func (l Limits) Start() minimize.Limits { return minimize.Limits{Tolerance: 10 * l.Tol, MaxSteps: 50} }

// Way is for solves of this number of steps on the way.
func (l Limits) Way(steps int) minimize.Limits {
	return minimize.Limits{Tolerance: Looseness * l.Tol, MaxSteps: steps, Line: Line, Rounded: true}
}

// Supervised is for a fit without unlabeled rows: its outer steps are Newton steps, of many conjugate gradients each.
func (l Limits) Supervised() minimize.Limits {
	limits := l.Final
	limits.MaxSteps = min(limits.MaxSteps, l.MaxIter)
	limits.Forcing = manySteps
	return limits
}

const SettleRounds = 100

// Settle is the last step: it settles hard labels at full weight and sharpens the solution; changed: labels before it.
func (p *Path) Settle(
	solve Solver, labels Belief, sharpen func(minimize.Outcome) minimize.Outcome, changed int, historyLevel float64,
) {
	switched, enough := p.settle(solve, labels)
	p.Last = sharpen(p.Last)
	p.Steps++
	if !enough && !p.Reason.Early() {
		p.Reason = Unsettled
	}
	p.Record(historyLevel, changed+switched)
}

// settle solves at hard labels, relabels, and repeats until no label changes or the risk no longer falls (rows of
// unequal weight): first loosely, then exactly. Labels and weights are then best given each other, unless the rounds
// end it: that is enough where the path has a number of its own.
func (p *Path) settle(solve Solver, labels Belief) (changed int, enough bool) {
	limits, last := p.Limits.Settle, math.Inf(1)
	for range cmp.Or(p.Rounds, SettleRounds) {
		labels.Enter(1)
		p.Last = solve(limits)
		switched := 0
		if p.Last.Finite() && p.Last.Value < last {
			switched, _ = labels.Relabel()
			switched = p.Trace.Job.Count(switched)
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
	return changed, p.Rounds > 0
}
