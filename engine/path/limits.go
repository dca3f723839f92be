package path

import "github.com/fewlabel/fewlabel/engine/minimize"

// Limits of a run and of its solves.
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

// Supervised is for a fit without unlabeled rows, whose outer steps are Newton steps. With rows of equal weight further
// conjugate gradients gain much.
func (l Limits) Supervised() minimize.Limits {
	limits := l.Final
	limits.MaxSteps = min(limits.MaxSteps, l.MaxIter)
	limits.Forcing = manySteps
	return limits
}
