package problem

import (
	"fmt"

	"github.com/fewlabel/fewlabel/engine/ending"
)

// CheckEnd warns when the fit did not end as it should, and returns the reason that says so. rounds were made at the
// full weight.
func (s *Sample) CheckEnd(converged bool, gap float64, reason ending.Reason, rounds int) ending.Reason {
	distance := fmt.Sprintf("at a relative distance of %.2g from the optimum, above tol = %.2g", gap, s.Options.Tol)
	switch {
	case reason == ending.MaxIter && !s.Transductive():
		s.Warn("convergence", "max_iter = %d Newton steps ended %s: raise max_iter or tol", s.Options.MaxIter, distance)
		return reason
	case reason == ending.MaxIter:
		s.Warn("convergence", "max_iter = %d was reached before the labels settled: raise max_iter", s.Options.MaxIter)
	case reason == ending.Unsettled:
		s.Warn("convergence", "labels still changed after %d rounds at the full weight: raise max_switches (0: no limit) "+
			"or alpha", rounds)
	}
	if converged {
		return reason
	}
	s.Warn("convergence", "the last solve ended %s, and more steps would not help: raise tol or alpha", distance)
	if reason.Early() {
		return reason
	}
	return ending.NotConverged
}

// WarnSupervised says why unlabeled rows take no part, where that is not what unlabeled_weight asks for.
func (s *Sample) WarnSupervised() {
	switch len(s.Unlabeled) {
	case 0:
		s.Warn("no_unlabeled", "no row is unlabeled: this is the supervised solution")
	case 1:
		s.Warn("one_unlabeled", "one row only is unlabeled: this is the supervised solution")
	}
}

// warnOfUnknownClasses warns of every class that class_prior alone knows; labels are the shares of the labeled rows.
func (s *Sample) warnOfUnknownClasses(labels []float64) {
	for class, share := range labels {
		if share == 0 {
			s.Warn("no_label", "class %d has a share in class_prior but no labeled row, so it gets the rows that fit the "+
				"other classes least. Label some rows of this class", class)
		}
	}
}

// CheckShares warns of every class that is predicted for less than half of its share of the unlabeled rows, and of a
// balance that cannot be had.
func (s *Sample) CheckShares(got, prior []float64) {
	if b := s.Options.Balance; !s.Options.FitIntercept && (b == "share" || b == "mean") {
		s.Warn("balance", "balance is %q, but fit_intercept is off and that is what it would set: the class prior is held "+
			"by the counts of labels only, as with balance \"labels\"", b)
	}
	for class, share := range got {
		switch rows := prior[class] * float64(len(s.Unlabeled)); {
		case share >= prior[class]/2:
		case rows < 1:
			s.Warn("small_share", "class %d has a share of %.2g%% in the class prior, which is less than one of the %d "+
				"unlabeled rows: none need be predicted as this class", class, 100*prior[class], len(s.Unlabeled))
		default:
			s.Warn("collapse", "class %d is predicted for %.1f%% of the unlabeled rows, where the class prior says %.1f%%: "+
				"the fit may have collapsed. %s check class_prior and the preprocessing (stop words out, idf, rows of unit "+
				"length)", class, 100*share, 100*prior[class], s.againstCollapse())
		}
	}
}

// againstCollapse is the advice that fits the options: whether the threshold could have been moved.
func (s *Sample) againstCollapse() string {
	switch {
	case !s.Options.FitIntercept:
		return "Turn fit_intercept on, so that the threshold can move, label more rows, or"
	case !s.MovesThreshold():
		return "Use balance \"share\", label more rows, or"
	}
	return "No threshold parts rows with equal scores: label more rows, or"
}
