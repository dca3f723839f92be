package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// checkEnd warns when the fit did not end as it should, and returns the reason that says so. rounds were made at the
// full weight.
func (t *task) checkEnd(converged bool, gap float64, reason ending.Reason, rounds int) ending.Reason {
	most := float64(t.Options.MaxIter)
	switch {
	case reason == ending.MaxIter && !t.Transductive():
		t.trace.Warn(warning.MaxIterDistance, most, gap, t.Options.Tol)
		return reason
	case reason == ending.MaxIter:
		t.trace.Warn(warning.MaxIter, most)
	case reason == ending.Unsettled:
		t.trace.Warn(warning.Unsettled, float64(rounds))
	}
	if converged {
		return reason
	}
	if t.method.Belief == method.Free && t.Transductive() {
		t.trace.Warn(warning.NotStationary, gap, t.Options.Tol)
	} else {
		t.trace.Warn(warning.NotConverged, gap, t.Options.Tol)
	}
	if reason.Early() {
		return reason
	}
	return ending.NotConverged
}

// warnSupervised says why unlabeled rows take no part, where that is not what unlabeled_weight asks for.
func (t *task) warnSupervised() {
	switch t.All.Unlabeled {
	case 0:
		t.trace.Warn(warning.NoUnlabeled)
	case 1:
		t.trace.Warn(warning.OneUnlabeled)
	}
}

// checkShares warns of every class that is predicted for less than half of its share of the unlabeled rows, and of a
// threshold that does not move though it should.
func (t *task) checkShares(got, prior []float64) {
	wanted := t.Options.Balance == "share" || t.Options.Balance == "mean"
	stuck := wanted && !t.Options.FitIntercept
	for class, share := range got {
		switch rows := float64(t.All.Unlabeled); {
		case share >= prior[class]/2:
		case prior[class]*rows < 1:
			t.trace.Warn(warning.SmallShare, float64(class), prior[class], rows)
		default:
			t.trace.Warn(warning.Collapse, float64(class), share, prior[class])
			stuck = stuck || !t.movesThreshold()
		}
	}
	if stuck {
		t.trace.Warn(warning.Balance)
	}
}
