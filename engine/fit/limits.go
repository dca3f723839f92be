package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// stop says how an outer loop ended.
type stop struct {
	reason ending.Reason
	steps  int
	last   minimize.Outcome // of the last solve
}

// startLimits are those of the supervised solution that a transductive method starts from.
func (t *task) startLimits() minimize.Limits {
	return minimize.Limits{Tolerance: 10 * t.Options.Tol, MaxSteps: 50}
}

// switchLimits are those of the step between two looks at hard labels.
func (t *task) switchLimits() minimize.Limits {
	return minimize.Limits{Tolerance: pathLooseness * t.Options.Tol, MaxSteps: 1, Line: pathLine}
}

// finalLimits are those of the last solve.
func (t *task) finalLimits() minimize.Limits {
	limits := minimize.Limits{Tolerance: t.Options.Tol, MaxSteps: 200}
	if t.start != nil {
		limits.Forcing = warmForcing
	}
	return limits
}

// settleLimits are the first ones of settling hard labels: of a warm fit those of single steps to the last solve.
func (t *task) settleLimits() minimize.Limits {
	if t.start == nil {
		return t.switchLimits()
	}
	limits := t.finalLimits()
	limits.MaxSteps = 1
	return limits
}

// supervisedLimits are those of a fit without unlabeled rows, whose outer steps are Newton steps.
func (t *task) supervisedLimits() minimize.Limits {
	limits := t.finalLimits()
	limits.MaxSteps = min(limits.MaxSteps, t.Options.MaxIter)
	return limits
}

// supervisedEnd says how such a fit ended.
func (t *task) supervisedEnd(outcome minimize.Outcome) stop {
	if !outcome.Converged && outcome.Steps == t.Options.MaxIter {
		return stop{reason: ending.MaxIter, steps: outcome.Steps}
	}
	return stop{reason: ending.Converged, steps: outcome.Steps}
}

// limit is the reason why the outer loop has to end after these steps, one step being left to settle the labels; None
// if it may go on.
func (t *task) limit(steps int) ending.Reason {
	switch {
	case t.Job.Stopped():
		return ending.Stopped
	case t.trace.Before+steps >= t.Options.MaxIter-1:
		return ending.MaxIter
	}
	return ending.None
}

// atLimit reports whether the outer loop has to end, and puts the reason into end.
func (t *task) atLimit(end *stop) bool {
	reason := t.limit(end.steps)
	if reason != ending.None {
		end.reason = reason
	}
	return reason != ending.None
}

// finite reports whether a solve has not left the range of numbers: nothing that follows could bring it back.
func finite(o minimize.Outcome) bool { return sample.IsFinite(o.Gap) }
