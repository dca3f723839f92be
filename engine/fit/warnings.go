package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// checkEnd warns of a fit that has not converged, and corrects the path's reason.
func checkEnd(r *method.Run, solution *method.Solution) {
	p, maxIter, tol := r.Path, float64(r.Options.MaxIter), r.Options.Tol
	switch {
	case p.Reason == ending.MaxIter && !r.Objective.Sample.Transductive():
		p.Trace.Warn(warning.MaxIterDistance, maxIter, solution.Gap, tol)
		return
	case p.Reason == ending.MaxIter:
		p.Trace.Warn(warning.MaxIter, maxIter)
	case p.Reason == ending.Unsettled:
		p.Trace.Warn(warning.Unsettled, path.SettleRounds)
	}
	if solution.Converged {
		return
	}
	p.Trace.Warn(solution.Unconverged, solution.Gap, tol)
	if !p.Reason.Early() {
		p.Reason = ending.NotConverged
	}
}

// warnSupervised warns where unlabeled rows take no part and unlabeled_weight is not the reason.
func warnSupervised(r *method.Run) {
	t := r.Path.Trace
	switch r.Objective.Sample.All.Unlabeled {
	case 0:
		t.Warn(warning.NoUnlabeled)
	case 1:
		t.Warn(warning.OneUnlabeled)
	}
}

// checkShares warns of classes predicted for less than half of their share of the unlabeled rows, and of thresholds
// that are to move and cannot.
func checkShares(r *method.Run, shares []float64) {
	t, prior, o := r.Path.Trace, r.Objective.Prior, r.Options
	for class, share := range shares {
		switch rows := float64(r.Objective.Sample.All.Unlabeled); {
		case share >= prior[class]/2:
		case prior[class]*rows < 1:
			t.Warn(warning.SmallShare, float64(class), prior[class], rows)
		default:
			t.Warn(warning.Collapse, float64(class), share, prior[class])
		}
	}
	if balance := o.Balance; !o.FitIntercept && (balance == "share" || balance == "mean") {
		t.Warn(warning.Balance)
	}
}
