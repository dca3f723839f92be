package sequence

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/loss"
)

// Ambiguity is the loss of a sequence without labels by the gradient method: what it costs that the second-best path is
// near the best one.
//
//	Problem  ξ = C u(t), t = s(y) - s(y'), for the best path y and the second-best one y'
//	Symbols  u 1 up to τ, 0 from 1 on, see loss.Plateau; C the weight, which rises from epoch to epoch
//	Source   Zien, Brefeld & Scheffer 2007, the loss u_{Δ,τ} of ∇TSVM
//	Differences  Δ = 1 whatever the paths differ in: the loss stays continuous where another path becomes the second
//	         best. Stochastic steps in place of conjugate gradients
//	Cost     a Viterbi with two states a tag; the gradient has the places only where the two paths differ
type Ambiguity struct{ Rho, Weight float64 }

// flat is τ, as in package fit.
const flat = 0.4

// Sharpness implements Loss.
func (a Ambiguity) Sharpness() float64 { return a.Rho }

// At implements Loss.
func (a Ambiguity) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64 {
	best, second := room(&l.path, len(labels)), room(&l.spare, len(labels))
	first, runnerUp := c.twoBest(l, unary, best, second)
	if math.IsInf(runnerUp, -1) {
		return 0
	}
	value, slope := loss.Plateau{Flat: flat}.At((first - runnerUp) / a.Rho)
	if slope != 0 {
		sums.add(best, a.Weight*slope, into)
		sums.add(second, -a.Weight*slope, into)
	}
	return a.Rho * a.Weight * value
}
