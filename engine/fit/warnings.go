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

// checkShares warns of thresholds that are to move and cannot, and of predicted classes. Methods that hold mean
// probabilities check these.
func checkShares(f *fitted) {
	x := f.setting
	if !x.sample.Transductive() || f.reason == ending.OneClass || f.spec.UsesProbabilities {
		return
	}
	if !x.averages() {
		checkPredicted(f)
	}
	if balance := x.options.Balance; !x.options.FitIntercept && (balance == "share" || balance == "mean") {
		f.warn(warning.Balance)
	}
}

// checkPredicted warns of classes predicted for less than half of their share of the unlabeled rows. A committee
// predicts others than the estimated shares, and does not lose by it: docs/notes/committee.md.
func checkPredicted(f *fitted) {
	s, prior := f.setting.sample, f.setting.prior.Shares
	shares, rows := make([]float64, len(prior)), float64(s.All.Unlabeled)
	for k, i := range s.Unlabeled {
		shares[f.Transduction[i]] += s.UnlabeledWeight[k]
	}
	s.Job.Reduce(shares)
	for class, share := range shares {
		switch {
		case share >= prior[class]/2:
		case prior[class]*rows < 1:
			f.warn(warning.SmallShare, float64(class), prior[class], rows)
		default:
			f.warn(warning.Collapse, float64(class), share, prior[class])
		}
	}
}

func (f *fitted) warn(kind warning.Kind, values ...float64) {
	f.Model.Warnings = append(f.Model.Warnings, kind.Of(values...))
}
