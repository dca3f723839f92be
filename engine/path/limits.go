package path

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/minimize"
)

// Limits are those of a run, from which the limits of its solves follow.
type Limits struct {
	Tol     float64 // of the last solve
	MaxIter int     // outer steps
	Warm    bool    // from a start
}

const (
	Looseness = 100 // solves on the way may end at this many times tol
	Line      = 0.3 // fraction of the slope at which a line search on the way may end
)

// warmForcing is that of the last solve of a run from a start, which begins near its end: steps by more conjugate
// gradients are cheaper there.
const warmForcing = 0.2

// Start is for the supervised solution that a transductive method starts from.
func (l Limits) Start() minimize.Limits { return minimize.Limits{Tolerance: 10 * l.Tol, MaxSteps: 50} }

// Way is for the solves of so many steps on the way.
func (l Limits) Way(steps int) minimize.Limits {
	return minimize.Limits{Tolerance: Looseness * l.Tol, MaxSteps: steps, Line: Line}
}

// Final is for the last solve.
func (l Limits) Final() minimize.Limits {
	limits := minimize.Limits{Tolerance: l.Tol, MaxSteps: 200}
	if l.Warm {
		limits.Forcing = warmForcing
	}
	return limits
}

// settling is for the first solves of settling hard labels: single steps, from a start those to the last solve.
func (l Limits) settling() minimize.Limits {
	if !l.Warm {
		return l.Way(1)
	}
	limits := l.Final()
	limits.MaxSteps = 1
	return limits
}

// Supervised is for a fit without unlabeled rows, whose outer steps are Newton steps.
func (l Limits) Supervised() minimize.Limits {
	limits := l.Final()
	limits.MaxSteps = min(limits.MaxSteps, l.MaxIter)
	limits.Forcing = 0.2 // rows of equal weight: conjugate gradients gain much by a few more steps
	return limits
}

// Limit is the reason why the path has to end after its steps so far, so many being left for what follows; None if it
// may go on.
func (p *Path) Limit(left int) ending.Reason {
	switch {
	case p.Job.Stopped():
		return ending.Stopped
	case p.Trace.Before+p.Steps >= p.Limits.MaxIter-left:
		return ending.MaxIter
	}
	return ending.None
}
