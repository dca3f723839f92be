package sequence

import (
	"math"
	"slices"
)

// Loss is the loss of a sequence.
type Loss interface {
	// Sharpness is the factor ρ by which scores are multiplied for At.
	Sharpness() float64
	// At returns ρ times the loss at the chain's and the unary scores times ρ, and adds its gradient in the scores without
	// the factor: to into [T*K] that of the unary ones, to sums the others. Labels [T]: -1 is a token without one, below
	// -1 one with a set of the chain. A path that has all labels, or tags of the sets, must not be forbidden.
	At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64
}

// Soft is the softened largest violation by any path.
//
//	Problem  ξ = 1/ρ [log Σ_y exp ρ(s(y) + Δ(y)) - log Σ_y∈C exp ρ s(y)], where C are the paths with all labels
//	Symbols  Δ the cost of a path, Cost for every wrong tag of a token with a label or a set; ρ the sharpness
//	Source   ρ = 1 without cost: conditional random fields, Lafferty, McCallum & Pereira 2001; with cost: softmax margin,
//	         Gimpel & Smith 2010, equation 5; towards ρ = ∞: the structured hinge, with margin rescaling
//	Cost     forward-backward; a second one where labels are missing
type Soft struct{ Rho, Cost float64 }

// Sharpness implements Loss.
func (s Soft) Sharpness() float64 { return s.Rho }

// At implements Loss.
func (s Soft) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64 {
	costly := unary
	if s.Cost > 0 {
		costly = c.withCost(l, unary, labels, s.Rho*s.Cost)
	}
	total := c.marginals(l, costly, 1, into, sums)
	return total - l.right(c, unary, labels, into, sums)
}

// right returns log Σ exp s(y) over the paths that have all labels, and subtracts its gradient.
func (l *lattice) right(c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64 {
	if slices.Min(labels) >= 0 {
		sums.add(labels, -1, into)
		return c.score(unary, labels)
	}
	return c.marginals(l, c.withCost(l, unary, labels, math.Inf(-1)), -1, into, sums)
}
