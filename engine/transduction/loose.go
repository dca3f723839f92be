package transduction

import (
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// A loose prior: labels may leave the class prior φ at a cost.
//
//	Problem  the method's, with labels whose shares m are free, plus S Σ_y φ_y log(φ_y / m_y)
//	Symbols  S prior_strength, in the unit of a row's loss; m shares of the labels, or means of the probabilities
//	Source   the penalty of Mann & McCallum 2007, here for every method: entropy and expectation have it as it stands;
//	         the labels of posterior and annealing have it in their dual, see labeling.LooseClasses, with T log φ as
//	         reference, so that warm labels follow the prior; switching has the shares of such labels, cooled. What
//	         the shares have come to when the labels are hard is kept in the last solves, as a prior held exactly is
//
// Measured on comp.* of 20 Newsgroups and Reuters R8, 40 to 50 labels, 2 to 4 draws, a prior wrong by 30 %: annealing
// loses 1.2 to 3.7 times as much macro F as with the prior held exactly at strengths 1 and 3, 0.75 to 1.2 times at 10.
// The objective prefers uneven classes while labels are soft. Loosening only below a tenth of the first temperature, or
// only in the last solves, changed little (0.7 to 1.2 times), and hardly anything on planted data: labels are settled
// by then.

// Labels are hard at the end of these temperatures, in parts of the weight of the unlabeled rows.
var looseTemperatures = []float64{1, 0.1, 0.01, 0.001}

// keep makes shares those that labels keep from now on.
func (t *classTask) keep(shares []float64) {
	t.held = append(t.held[:0], shares...)
	t.counts = labeling.Counts(t.held, len(t.unlabeled))
}

// loosen finds the shares of the best labels at the scores and at a level of the unlabeled rows' weight, and reports
// whether the prior is loose.
func (t *classTask) loosen(r *risk.Classes, level float64) bool {
	strength := t.options.strength() / level // costs are those at the full weight
	if strength == 0 {
		return false
	}
	t.measure(r)
	soft, potentials, means := make([]float64, len(t.costs)), make([]float64, t.classes), t.prior
	for _, temperature := range looseTemperatures {
		means = labeling.LooseClasses(t.job, soft, t.costs, t.unlabeledWeight, t.prior, strength,
			temperature*t.options.UnlabeledWeight, true, potentials)
	}
	t.keep(means)
	return true
}

// loosen finds the share of the best labels at these scores [n] and a level, where the prior is loose.
func (t *task) loosen(scores []float64, level float64) {
	strength := t.options.strength() / level
	if strength == 0 {
		return
	}
	g, p, nu := make([]float64, len(t.unlabeled)), make([]float64, len(t.unlabeled)), 0.0
	t.preferences(g, scores, t.margin())
	for _, temperature := range looseTemperatures {
		nu, t.held = labeling.LooseSoft(t.job, p, g, t.unlabeledWeight, temperature*t.options.UnlabeledWeight, t.prior,
			strength, nu)
	}
}
