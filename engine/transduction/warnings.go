package transduction

import (
	"fmt"
)

// checkEnd warns when the fit did not end as it should, and sees to it that the reason says so.
func (s *sample) checkEnd(converged bool, gap float64, end *ending) {
	distance := fmt.Sprintf("at a relative distance of %.2g from the optimum, above tol = %.2g", gap, s.options.Tol)
	switch {
	case end.reason == "max_iter" && !s.transductive():
		s.warn("convergence", "max_iter = %d Newton steps ended %s: raise max_iter or tol", s.options.MaxIter, distance)
		return
	case end.reason == "max_iter":
		s.warn("convergence", "max_iter = %d was reached before the labels settled: raise max_iter", s.options.MaxIter)
	case end.reason == "unsettled":
		s.warn("convergence", "labels still changed after %d rounds at the full weight: raise max_switches (0: no limit) "+
			"or alpha", settleRounds)
	}
	if converged {
		return
	}
	s.warn("convergence", "the last solve ended %s, and more steps would not help: raise tol or alpha", distance)
	if !end.early() {
		end.reason = "not_converged"
	}
}

// warnSupervised says why unlabeled rows take no part, where that is not what unlabeled_weight asks for.
func (s *sample) warnSupervised() {
	switch len(s.unlabeled) {
	case 0:
		s.warn("no_unlabeled", "no row is unlabeled: this is the supervised solution")
	case 1:
		s.warn("one_unlabeled", "one row only is unlabeled: this is the supervised solution")
	}
}

// warnOfUnknownClasses warns of every class that class_prior alone knows; labels are the shares of the labeled rows.
func (s *sample) warnOfUnknownClasses(labels []float64) {
	for class, share := range labels {
		if share == 0 {
			s.warn("no_label", "class %d has a share in class_prior but no labeled row, so it gets the rows that fit the "+
				"other classes least. Label some rows of this class", class)
		}
	}
}

// checkShares warns of every class that is predicted for less than half of its share of the unlabeled rows, and of a
// balance that cannot be had.
func (s *sample) checkShares(got, prior []float64) {
	if b := s.options.Balance; !s.options.FitIntercept && (b == "share" || b == "mean") {
		s.warn("balance", "balance is %q, but fit_intercept is off and that is what it would set: the class prior is held "+
			"by the counts of labels only, as with balance \"labels\"", b)
	}
	for class, share := range got {
		switch rows := prior[class] * float64(len(s.unlabeled)); {
		case share >= prior[class]/2:
		case rows < 1:
			s.warn("small_share", "class %d has a share of %.2g%% in the class prior, which is less than one of the %d "+
				"unlabeled rows: none need be predicted as this class", class, 100*prior[class], len(s.unlabeled))
		default:
			s.warn("collapse", "class %d is predicted for %.1f%% of the unlabeled rows, where the class prior says %.1f%%: "+
				"the fit may have collapsed. %s check class_prior and the preprocessing (stop words out, idf, rows of unit "+
				"length)", class, 100*share, 100*prior[class], s.againstCollapse())
		}
	}
}

// againstCollapse is the advice that fits the options: whether the threshold could have been moved.
func (s *sample) againstCollapse() string {
	switch {
	case !s.options.FitIntercept:
		return "Turn fit_intercept on, so that the threshold can move, label more rows, or"
	case !s.movesThreshold():
		return "Use balance \"share\", label more rows, or"
	}
	return "No threshold parts rows with equal scores: label more rows, or"
}
