package minimize

import (
	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Operator is a symmetric positive definite matrix H.
type Operator interface {
	// HessVec sets dst = H p and returns pᵀ H p.
	HessVec(dst, p []float64) (curvature float64)
}

// Preconditioned is an operator or an objective that knows a matrix M near its H, symmetric and positive definite.
type Preconditioned interface {
	// Precondition sets dst = M⁻¹ residual, or returns false where there is no such matrix.
	Precondition(dst, residual []float64) bool
}

// ConjugateGradients solves linear equations. Its vectors are kept for the next call.
//
//	Problem  H s = b over s in R^d
//	Symbols  r = b - H s residual [d]; p direction [d]; M preconditioner, or the identity
//	Source   Hestenes & Stiefel 1952; Nocedal & Wright 2006, algorithm 5.3
//	Stops    |r| <= η |b| in the norm of M⁻¹; a number of steps; a direction without curvature
//	Cost     a step: one product with H, one with M⁻¹
type ConjugateGradients struct {
	pool                               *work.Pool
	step, residual, direction, product []float64
	conjugated                         []float64 // M⁻¹ residual: the product's or the residual's memory
	inner                              float64   // b . s
}

// NewConjugateGradients makes a solver for d variables, whose vectors are divided among the threads of a pool.
func NewConjugateGradients(d int, pool *work.Pool) *ConjugateGradients {
	return &ConjugateGradients{pool: pool, step: make([]float64, d), direction: make([]float64, d),
		product: make([]float64, d)}
}

// Solve gives an approximate s, which is valid until the next call. It overwrites b.
func (c *ConjugateGradients) Solve(h Operator, b []float64, eta float64, maxSteps int) (s []float64) {
	c.residual, c.inner = b, 0
	c.pool.Stripes(len(b), func(lo, hi int) { clear(c.step[lo:hi]) })
	square := c.precondition(h, c.square())
	copy(c.direction, c.conjugated)
	enough := eta * eta * square
	for range maxSteps {
		curvature := h.HessVec(c.product, c.direction)
		if curvature <= 0 {
			break
		}
		before, length := square, square/curvature
		c.inner += length * square // the part of b that is not conjugate to the directions before
		square = c.precondition(h, c.total(func(lo, hi int) float64 {
			vector.Add(c.step[lo:hi], length, c.direction[lo:hi])
			return vector.AddSquare(c.residual[lo:hi], -length, c.product[lo:hi])
		}))
		if square <= enough {
			break
		}
		c.pool.Stripes(len(c.direction), func(lo, hi int) {
			floats.AddScaledTo(c.direction[lo:hi], c.conjugated[lo:hi], square/before, c.direction[lo:hi])
		})
	}
	return c.step
}

// precondition lets c.conjugated be M⁻¹ residual, in the memory of the product, which is free now, and returns the
// squared norm of the residual in M⁻¹; plain is that in the identity, which stands for M where there is none.
func (c *ConjugateGradients) precondition(h Operator, plain float64) (square float64) {
	if p, ok := h.(Preconditioned); ok && p.Precondition(c.product, c.residual) {
		c.conjugated = c.product
		return c.total(func(lo, hi int) float64 { return vector.Dot(c.residual[lo:hi], c.product[lo:hi]) })
	}
	c.conjugated = c.residual
	return plain
}

func (c *ConjugateGradients) square() float64 {
	return c.total(func(lo, hi int) float64 { return vector.Dot(c.residual[lo:hi], c.residual[lo:hi]) })
}

func (c *ConjugateGradients) total(add func(lo, hi int) float64) float64 {
	var sum [1]float64
	c.pool.Total(len(c.step), sum[:], func(lo, hi int, dst []float64) { dst[0] = add(lo, hi) })
	return sum[0]
}
