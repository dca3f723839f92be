package panel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Operator is a symmetric positive definite matrix H, and perhaps one near it, M.
type Operator interface {
	// HessVec sets dst = H p.
	HessVec(dst, p []float64)
	// Precondition sets dst = M⁻¹ residual, or returns false where there is no such matrix.
	Precondition(dst, residual []float64) bool
	// Columns are the columns of a vector on each of which H and M act separately; one column where they do not.
	Columns() Shape
}

// ConjugateGradients solves linear equations. Its vectors are kept for the next call.
//
//	Problem  H s = b over s in R^d
//	Symbols  r = b - H s residual [d]; p direction [d]; M preconditioner, or the identity
//	Source   Hestenes & Stiefel 1952; Nocedal & Wright 2006, algorithm 5.3. Differences: columns on which H acts
//	         separately, as for one class against the others, have a step length each: for 77 classes of embeddings
//	         without a preconditioner that is a third of the steps
//	Stops    |r| <= η |b| in the norm of M⁻¹, without columns whose direction has no curvature; a number of steps
//	Cost     a step: one product with H, one with M⁻¹
type ConjugateGradients struct {
	pool                               *work.Pool
	columns                            Shape
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
	c.columns, c.residual, c.inner = h.Columns(), b, 0
	c.pool.Stripes(len(b), func(lo, hi int) { clear(c.step[lo:hi]) })
	square := c.precondition(h, c.columns.Dots(c.pool, b, b))
	copy(c.direction, c.conjugated)
	enough := eta * eta * vector.Sum(square)
	for range maxSteps {
		h.HessVec(c.product, c.direction)
		length, before := ratios(square, c.columns.Dots(c.pool, c.direction, c.product)), square
		c.inner += vector.Dot(length, square) // the part of b that is not conjugate to the directions before
		square = c.precondition(h, c.advance(length))
		for k, t := range length {
			if t == 0 { // a column without curvature is at its end
				square[k] = 0
			}
		}
		if vector.Sum(square) <= enough {
			break
		}
		c.turn(ratios(square, before))
	}
	return c.step
}

// Inner is b . s of the last solution, twice the decrease of ½ s . H s - b . s.
func (c *ConjugateGradients) Inner() float64 { return c.inner }

// ratios are a / b for every column; 0 where b is not above 0.
func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for k := range out {
		if b[k] > 0 {
			out[k] = a[k] / b[k]
		}
	}
	return out
}

// precondition lets c.conjugated be M⁻¹ residual, in the memory of the product, which is free now, and returns the
// squared norms of the residual in M⁻¹; plain are those in the identity, which stands for M where there is none.
func (c *ConjugateGradients) precondition(h Operator, plain []float64) (squares []float64) {
	if h.Precondition(c.product, c.residual) {
		c.conjugated = c.product
		return c.columns.Dots(c.pool, c.residual, c.product)
	}
	c.conjugated = c.residual
	return plain
}

// advance goes these lengths along the direction of every column, and returns the squares of the residual.
func (c *ConjugateGradients) advance(length []float64) []float64 {
	return c.columns.sums(c.pool, func(at, end int, in Panel, sums []float64) {
		lengths := length[in.First : in.First+in.Width]
		if in.Stride == 1 {
			vector.Add(c.step[at:end], lengths[0], c.direction[at:end])
			vector.Add(c.residual[at:end], -lengths[0], c.product[at:end])
			sums[0] += vector.Dot(c.residual[at:end], c.residual[at:end])
			return
		}
		for ; at < end; at += in.Stride {
			s, p := c.step[at:at+in.Width], c.direction[at:at+in.Width]
			r, q := c.residual[at:at+in.Width], c.product[at:at+in.Width]
			for k, t := range lengths {
				s[k] += t * p[k]
				r[k] -= t * q[k]
				sums[k] += r[k] * r[k]
			}
		}
	})
}

// turn adds these multiples of the direction to the conjugated residual, the next direction of every column.
func (c *ConjugateGradients) turn(multiple []float64) {
	c.columns.sums(c.pool, func(at, end int, in Panel, _ []float64) {
		multiples := multiple[in.First : in.First+in.Width]
		if in.Stride == 1 {
			floats.AddScaledTo(c.direction[at:end], c.conjugated[at:end], multiples[0], c.direction[at:end])
			return
		}
		for ; at < end; at += in.Stride {
			p, r := c.direction[at:at+in.Width], c.conjugated[at:at+in.Width]
			for k, t := range multiples {
				p[k] = r[k] + t*p[k]
			}
		}
	})
}

// Dots are the inner products of the columns of two vectors.
func (s Shape) Dots(pool *work.Pool, a, b []float64) []float64 {
	return s.sums(pool, func(at, end int, in Panel, sums []float64) {
		if in.Stride == 1 {
			sums[0] += vector.Dot(a[at:end], b[at:end])
			return
		}
		for ; at < end; at += in.Stride {
			y := b[at : at+in.Width]
			for k, x := range a[at : at+in.Width] {
				sums[k] += x * y[k]
			}
		}
	})
}

// sums are one for each column: add visits the places at ... end-1 of a vector, which are features of a panel.
func (s Shape) sums(pool *work.Pool, add func(at, end int, in Panel, sums []float64)) []float64 {
	out := make([]float64, s.Stride())
	if panels := s.Panels(); panels > 1 {
		pool.Run(panels, func(b int) {
			in := s.Panel(b)
			add(in.Start, in.Start+s.Features*in.Stride, in, out[in.First:in.First+in.Width])
		})
		return out
	}
	pool.Total(s.Features, out, func(lo, hi int, part []float64) {
		in := s.Panel(0)
		add(lo*in.Stride, hi*in.Stride, in, part)
	})
	return out
}
