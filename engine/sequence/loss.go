package sequence

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
)

type Loss interface {
	// At returns ρ times the loss at the chain's and the unary scores, which are multiplied by the sharpness ρ, and adds
	// its gradient in the scores without the factor: to into [T*K] in the unary ones, to sums in the others. Labels [T]:
	// -1 is a token without one, below -1 one with a set of the chain. The labels must leave a path.
	At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64
}

// SoftmaxMargin is the softened largest violation by any path.
//
//	Problem  ξ = 1/ρ [log Σ_y exp ρ(s(y) + Δ(y)) - log Σ_y∈C exp ρ s(y)], where C are the paths with all labels
//	Symbols  Δ the cost of a path, Cost for every wrong tag of a token with a label or a set; ρ the sharpness
//	Source   ρ = 1 without cost: conditional random fields, Lafferty, McCallum & Pereira 2001; with cost: softmax margin,
//	         Gimpel & Smith 2010, equation 5; towards ρ = ∞: the structured hinge, with margin rescaling
//	Cost     forward-backward; a second one where labels are missing
type SoftmaxMargin struct{ Rho, Cost float64 }

func (s SoftmaxMargin) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64 {
	costly := unary
	if s.Cost > 0 {
		costly = c.withCost(l, unary, labels, s.Rho*s.Cost)
	}
	total := c.marginals(l, costly, 1, into, sums)
	if slices.Min(labels) >= 0 {
		sums.add(labels, -1, into)
		return total - c.score(unary, labels)
	}
	return total - c.marginals(l, c.withCost(l, unary, labels, math.Inf(-1)), -1, into, sums)
}

// ambiguity is the loss of a sequence without labels by the method gradient: the second-best path is near the best one.
//
//	Problem  ξ = C u(t), t = s(y) - s(y'), for the best path y and the second-best one y'
//	Symbols  u 1 up to τ, 0 from 1 on, see loss.Plateau; C the weight, which rises from epoch to epoch
//	Source   Zien, Brefeld & Scheffer 2007, the loss u_{Δ,τ} of ∇TSVM
//	Differences  Δ = 1 for all paths: the loss stays continuous where another path becomes the second best. Stochastic
//	         steps in place of conjugate gradients
//	Cost     a Viterbi with two states a tag; the gradient has the places only where the two paths differ
type ambiguity struct{ rho, full, weight float64 }

func newAmbiguity(s *sample, _ []int, _, factor float64) belief {
	return &ambiguity{rho: s.rho, full: factor}
}

func (a *ambiguity) enter(_ weights, part float64) { a.weight = part * a.full }

func (a *ambiguity) lossOf(int) Loss { return a }

func (a *ambiguity) rest() float64 { return 0 }

func (a *ambiguity) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64 {
	best, second := room(&l.path, len(labels)), room(&l.second, len(labels))
	first, runnerUp := c.twoBest(l, unary, best, second)
	if math.IsInf(runnerUp, -1) {
		return 0
	}
	value, slope := loss.Plateau((first - runnerUp) / a.rho)
	if slope != 0 {
		sums.add(best, a.weight*slope, into)
		sums.add(second, -a.weight*slope, into)
	}
	return a.rho * a.weight * value
}
