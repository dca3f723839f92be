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

// Cost is what a wrong path costs beside its score.
type Cost string

// The costs. They count tokens with labels or sets only.
const (
	None    Cost = "none"
	Hamming Cost = "hamming"  // 1 for every wrong tag
	ZeroOne Cost = "zero_one" // 1 for a path with a wrong tag
)

// Soft is the softened largest violation by any path.
//
//	Problem  ξ = 1/ρ [log Σ_y exp ρ(s(y) + Δ(y)) - log Σ_y∈C exp ρ s(y)], where C are the paths with all labels
//	Symbols  Δ the cost of a path; ρ the sharpness
//	Source   ρ = 1 without cost: conditional random fields, Lafferty, McCallum & Pereira 2001; with cost: softmax margin,
//	         Gimpel & Smith 2010, equation 5; towards ρ = ∞: the structured hinge, with margin rescaling
//	Cost     forward-backward; a second one where labels are missing
type Soft struct {
	Rho  float64
	Cost Cost
}

// Sharpness implements Loss.
func (s Soft) Sharpness() float64 { return s.Rho }

// At implements Loss.
func (s Soft) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64 {
	if s.Cost == ZeroOne {
		return s.zeroOne(l, c, unary, labels, into, sums)
	}
	costly := unary
	if s.Cost == Hamming {
		costly = c.withCost(l, unary, labels, s.Rho)
	}
	total := c.marginals(l, costly, 1, into, sums)
	return total - l.right(c, unary, labels, -1, into, sums)
}

// zeroOne has the same cost for all paths that are not right: with Z = Σ exp ρ s over all paths, G over the right ones
// and κ = e^ρ, Σ exp ρ(s + Δ) = κ Z - (κ - 1) G, whose logarithm has the gradient [κ Z E_Z - (κ - 1) G E_G] / that sum.
func (s Soft) zeroOne(
	l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts,
) float64 {
	total := c.forward(l, unary)
	right := l.right(c, unary, labels, 0, into, sums)
	kappa := math.Exp(s.Rho)
	sum := kappa - (kappa-1)*math.Exp(right-total)
	c.marginals(l, unary, kappa/sum, into, sums)
	l.right(c, unary, labels, -kappa/sum, into, sums)
	return total + math.Log(sum) - right
}

// right returns log Σ exp s(y) over the paths that have all labels, and adds factor times its gradient.
func (l *lattice) right(
	c *chain, unary []float64, labels []int32, factor float64, into []float64, sums *counts,
) float64 {
	if whole(labels) {
		sums.add(labels, factor, into)
		return c.score(unary, labels)
	}
	return c.marginals(l, c.withCost(l, unary, labels, math.Inf(-1)), factor, into, sums)
}

// Huber is the violation by the worst path, rounded where it begins.
//
//	Problem  ξ = h(v), v = max over y not in C [s(y) + Δ(y)] - max over y in C s(y); h(v) = v from ε on, 0 up to -ε,
//	         (v + ε)²/4ε between
//	Symbols  C the paths with all labels; Δ the cost of a path
//	Source   Zien, Brefeld & Scheffer 2007, the loss l_{Δ,ε} of the margin t = Δ - v
//	Cost     one Viterbi with two states a tag; another Viterbi where labels are missing
type Huber struct {
	Epsilon float64
	Cost    Cost
}

// Sharpness implements Loss.
func (Huber) Sharpness() float64 { return 1 }

// At implements Loss.
func (h Huber) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *counts) float64 {
	costly, extra := unary, 0.0
	switch h.Cost {
	case Hamming:
		costly = c.withCost(l, unary, labels, 1)
	case ZeroOne:
		extra = 1
	}
	worst := room(&l.path, len(labels))
	violation := c.violator(l, costly, labels, worst) + extra
	right, score := labels, 0.0
	if whole(labels) {
		score = c.score(unary, labels)
	} else {
		right = room(&l.spare, len(labels))
		score = c.best(l, c.withCost(l, unary, labels, math.Inf(-1)), right)
	}
	value, slope := h.rounded(violation - score)
	if slope > 0 {
		sums.add(worst, slope, into)
		sums.add(right, -slope, into)
	}
	return value
}

// rounded is h(v) and its slope.
func (h Huber) rounded(v float64) (value, slope float64) {
	switch {
	case v >= h.Epsilon:
		return v, 1
	case v <= -h.Epsilon:
		return 0, 0
	}
	return (v + h.Epsilon) * (v + h.Epsilon) / (4 * h.Epsilon), (v + h.Epsilon) / (2 * h.Epsilon)
}

// whole reports whether every token has a label.
func whole(labels []int32) bool { return slices.Min(labels) >= 0 }
