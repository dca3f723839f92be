package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// checkEnd warns when the fit did not end as it should, and gives the path the reason that says so.
func checkEnd(r *method.Run, found *method.Solution) {
	p, most, tol := r.Path, float64(r.Options.MaxIter), r.Options.Tol
	switch {
	case p.Reason == ending.MaxIter && !r.Objective.Sample.Transductive():
		p.Trace.Warn(warning.MaxIterDistance, most, found.Gap, tol)
		return
	case p.Reason == ending.MaxIter:
		p.Trace.Warn(warning.MaxIter, most)
	case p.Reason == ending.Unsettled:
		p.Trace.Warn(warning.Unsettled, path.SettleRounds)
	}
	if found.Converged {
		return
	}
	p.Trace.Warn(found.Unconverged, found.Gap, tol)
	if !p.Reason.Early() {
		p.Reason = ending.NotConverged
	}
}

// warnSupervised warns where unlabeled rows take no part, where that is not what unlabeled_weight asks for.
func warnSupervised(r *method.Run) {
	t := r.Path.Trace
	switch r.Objective.Sample.All.Unlabeled {
	case 0:
		t.Warn(warning.NoUnlabeled)
	case 1:
		t.Warn(warning.OneUnlabeled)
	}
}

// checkShares warns of every class that is predicted for less than half of its share of the unlabeled rows, and of a
// threshold that does not move though it should.
func checkShares(r *method.Run, got []float64, moves bool) {
	t, prior, o := r.Path.Trace, r.Objective.Prior, r.Options
	wanted := o.Balance == "share" || o.Balance == "mean"
	stuck := wanted && !o.FitIntercept
	for class, share := range got {
		switch rows := float64(r.Objective.Sample.All.Unlabeled); {
		case share >= prior[class]/2:
		case prior[class]*rows < 1:
			t.Warn(warning.SmallShare, float64(class), prior[class], rows)
		default:
			t.Warn(warning.Collapse, float64(class), share, prior[class])
			stuck = stuck || !moves
		}
	}
	if stuck {
		t.Warn(warning.Balance)
	}
}
