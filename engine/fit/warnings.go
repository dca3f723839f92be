package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// checkEnd warns when the fit did not end as it should, and gives the path the reason that says so.
func (x *setting) checkEnd(p *path.Path, found *method.Solution, row *method.Row) {
	most, tol := float64(x.options.MaxIter), x.options.Tol
	switch {
	case p.Reason == ending.MaxIter && !x.sample.Transductive():
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
	if row.OwnLoss != nil && x.sample.Transductive() {
		p.Trace.Warn(warning.NotStationary, found.Gap, tol)
	} else {
		p.Trace.Warn(warning.NotConverged, found.Gap, tol)
	}
	if !p.Reason.Early() {
		p.Reason = ending.NotConverged
	}
}

// warnSupervised says why unlabeled rows take no part, where that is not what unlabeled_weight asks for.
func (x *setting) warnSupervised(t *trace.Trace) {
	switch x.sample.All.Unlabeled {
	case 0:
		t.Warn(warning.NoUnlabeled)
	case 1:
		t.Warn(warning.OneUnlabeled)
	}
}

// checkShares warns of every class that is predicted for less than half of its share of the unlabeled rows, and of a
// threshold that does not move though it should.
func (x *setting) checkShares(t *trace.Trace, got []float64, moves bool) {
	prior := x.prior.Shares
	wanted := x.options.Balance == "share" || x.options.Balance == "mean"
	stuck := wanted && !x.options.FitIntercept
	for class, share := range got {
		switch rows := float64(x.sample.All.Unlabeled); {
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
