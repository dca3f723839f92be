package problem

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// CheckEnd warns when the fit did not end as it should, and returns the reason that says so. rounds were made at the
// full weight.
func (s *Sample) CheckEnd(converged bool, gap float64, reason ending.Reason, rounds int) ending.Reason {
	most := float64(s.Options.MaxIter)
	switch {
	case reason == ending.MaxIter && !s.Transductive():
		s.Warn(warning.MaxIterDistance, most, gap, s.Options.Tol)
		return reason
	case reason == ending.MaxIter:
		s.Warn(warning.MaxIter, most)
	case reason == ending.Unsettled:
		s.Warn(warning.Unsettled, float64(rounds))
	}
	if converged {
		return reason
	}
	if s.Options.Method == Gradient && s.Transductive() {
		s.Warn(warning.NotStationary, gap, s.Options.Tol)
	} else {
		s.Warn(warning.NotConverged, gap, s.Options.Tol)
	}
	if reason.Early() {
		return reason
	}
	return ending.NotConverged
}

// WarnSupervised says why unlabeled rows take no part, where that is not what unlabeled_weight asks for.
func (s *Sample) WarnSupervised() {
	switch s.All.Unlabeled {
	case 0:
		s.Warn(warning.NoUnlabeled)
	case 1:
		s.Warn(warning.OneUnlabeled)
	}
}

// warnOfUnknownClasses warns of every class that class_prior alone knows; labels are the shares of the labeled rows.
func (s *Sample) warnOfUnknownClasses(labels []float64) {
	for class, share := range labels {
		if share == 0 {
			s.Warn(warning.NoLabel, float64(class))
		}
	}
}

// CheckShares warns of every class that is predicted for less than half of its share of the unlabeled rows, and of a
// threshold that does not move though it should.
func (s *Sample) CheckShares(got, prior []float64) {
	wanted := s.Options.Balance == "share" || s.Options.Balance == "mean"
	stuck := wanted && !s.Options.FitIntercept
	for class, share := range got {
		switch rows := float64(s.All.Unlabeled); {
		case share >= prior[class]/2:
		case prior[class]*rows < 1:
			s.Warn(warning.SmallShare, float64(class), prior[class], rows)
		default:
			s.Warn(warning.Collapse, float64(class), share, prior[class])
			stuck = stuck || !s.MovesThreshold()
		}
	}
	if stuck {
		s.Warn(warning.Balance)
	}
}
