package minimize

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// # Conjugate gradients on independent columns
//
//	Problem  H_l s_l = r_l for many columns l, each with a symmetric positive definite matrix of its own, all of them
//	         applied by one reading of the data
//	Symbols  d variables a column; x_l, r_l, p_l point, residual and direction [d]; vectors hold all columns, in panels
//	Source   Hestenes & Stiefel 1952, column by column: each has its own step lengths and its own test
//	Stops    a column drops out at |r_l| <= Tolerance |r_l at the start|, after MaxSteps, or where the curvature along
//	         its direction is not positive; the vectors are then packed again, so that it costs nothing more
//	Cost     a step: one product for the columns that are left, and three passes over vectors of that many columns

// Systems are linear equations with one unknown vector for each of several columns.
type Systems interface {
	// HessVec sets dst = H_l p_l for the columns l that are listed; dst and p hold these, in this order, in the shape of
	// that many columns.
	HessVec(dst, p []float64, columns []int)
}

// ColumnLimits are where a column stops.
type ColumnLimits struct {
	Tolerance float64 // |r_l| <= Tolerance |r_l at the start|
	MaxSteps  int
}

// ColumnOutcome is how a column ended.
type ColumnOutcome struct {
	Steps     int
	Decrease  float64 // of ½ sᵀ H s - rᵀ s
	Converged bool
}

// columns are those under way; vectors hold the ones in left, in this order.
type columns struct {
	pool                         *work.Pool
	systems                      Systems
	left                         []int
	shape, all                   panel.Shape
	x                            []float64 // in the shape of all columns
	residual, direction, product []float64
	outcomes                     []ColumnOutcome
	square, enough               []float64 // |r_l|² and the largest that is small enough, of the columns in left
}

// SolveColumns adds to x the solutions s_l for the residuals r_l, which it overwrites. Both hold d variables of n
// columns.
func SolveColumns(pool *work.Pool, f Systems, x, residual []float64, d, n int, limits ColumnLimits) []ColumnOutcome {
	c := &columns{pool: pool, systems: f, all: panel.Shape{Features: d, Classes: n}, x: x,
		outcomes: make([]ColumnOutcome, n)}
	c.shape, c.residual = c.all, residual
	for l := range n {
		c.left = append(c.left, l)
	}
	c.direction = append([]float64(nil), residual...)
	c.product = make([]float64, len(residual))
	c.square = c.dots(residual, residual)
	for _, square := range c.square {
		c.enough = append(c.enough, limits.Tolerance*limits.Tolerance*square)
	}
	for c.drop(limits.MaxSteps); len(c.left) > 0; c.drop(limits.MaxSteps) {
		c.step()
	}
	return c.outcomes
}

// step is one of conjugate gradients in each column that is left.
func (c *columns) step() {
	c.systems.HessVec(c.product, c.direction, c.left)
	length := c.dots(c.direction, c.product)
	for k, curvature := range length {
		length[k] = 0
		if curvature > 0 {
			length[k] = c.square[k] / curvature
		}
	}
	square := c.advance(length)
	beta := make([]float64, len(square))
	for k, l := range c.left {
		if length[k] == 0 {
			c.enough[k] = math.Inf(1) // no step from here lowers the column
			continue
		}
		c.outcomes[l].Steps++
		c.outcomes[l].Decrease += length[k] * c.square[k] / 2
		beta[k] = square[k] / c.square[k]
	}
	c.square = square
	c.eachPanel(func(lo, hi int, p panel.Panel, own []float64) {
		for at := p.Start + lo*p.Stride; at < p.Start+hi*p.Stride; at += p.Stride {
			for k, b := range own {
				c.direction[at+k] = c.residual[at+k] + b*c.direction[at+k]
			}
		}
	}, beta)
}

// advance goes a length along the direction of each column and gives the new |r_l|².
func (c *columns) advance(length []float64) []float64 {
	squares := make([]float64, len(length))
	c.sums(squares, func(lo, hi int, p panel.Panel, dst []float64) {
		own := length[p.First : p.First+len(dst)]
		for at := p.Start + lo*p.Stride; at < p.Start+hi*p.Stride; at += p.Stride {
			for k, t := range own {
				r := c.residual[at+k] - t*c.product[at+k]
				c.residual[at+k] = r
				dst[k] += r * r
			}
		}
	})
	c.eachPanel(c.move, length)
	return squares
}

// move adds own times the direction to the points of the columns of a panel, for the variables lo ... hi-1.
func (c *columns) move(lo, hi int, p panel.Panel, own []float64) {
	places, steps := make([]int, len(own)), make([]int, len(own))
	for k := range own {
		l := c.left[p.First+k]
		places[k], steps[k] = c.all.At(lo, l), c.all.At(1, l)-c.all.At(0, l)
	}
	for at := p.Start + lo*p.Stride; at < p.Start+hi*p.Stride; at += p.Stride {
		for k, t := range own {
			c.x[places[k]] += t * c.direction[at+k]
			places[k] += steps[k]
		}
	}
}

// drop notes the columns that are done and packs the others.
func (c *columns) drop(maxSteps int) {
	var kept []int // places in c.left
	for k, l := range c.left {
		outcome := &c.outcomes[l]
		outcome.Converged = c.square[k] <= c.enough[k] && !math.IsInf(c.enough[k], 1)
		if c.square[k] > c.enough[k] && outcome.Steps < maxSteps {
			kept = append(kept, k)
		}
	}
	if len(kept) == len(c.left) {
		return
	}
	smaller := panel.Shape{Features: c.all.Features, Classes: len(kept)}
	c.residual, c.direction = c.packed(c.residual, smaller, kept), c.packed(c.direction, smaller, kept)
	c.product = make([]float64, len(c.residual))
	c.left, c.square, c.enough = chosen(c.left, kept), chosen(c.square, kept), chosen(c.enough, kept)
	c.shape = smaller
}

func chosen[T any](from []T, kept []int) []T {
	to := make([]T, len(kept))
	for k, place := range kept {
		to[k] = from[place]
	}
	return to
}

// packed copies the columns that are kept.
func (c *columns) packed(v []float64, to panel.Shape, kept []int) []float64 {
	if to.Classes == 0 {
		return nil
	}
	packed := make([]float64, to.Len())
	for k, place := range kept {
		for j := range to.Features {
			packed[to.At(j, k)] = v[c.shape.At(j, place)]
		}
	}
	return packed
}

// dots are the inner products of the columns of two vectors.
func (c *columns) dots(a, b []float64) []float64 {
	dots := make([]float64, len(c.left))
	c.sums(dots, func(lo, hi int, p panel.Panel, dst []float64) {
		for at := p.Start + lo*p.Stride; at < p.Start+hi*p.Stride; at += p.Stride {
			for k := range dst {
				dst[k] += a[at+k] * b[at+k]
			}
		}
	})
	return dots
}

// sums adds over the variables: add adds those of the variables lo ... hi-1 of a panel to dst, which has an entry for
// each column of the panel.
func (c *columns) sums(dst []float64, add func(lo, hi int, p panel.Panel, dst []float64)) {
	for b := range c.shape.Panels() {
		p := c.shape.Panel(b)
		c.pool.Total(c.shape.Features, own(dst, p), func(lo, hi int, dst []float64) { add(lo, hi, p, dst) })
	}
}

// eachPanel calls task for some variables lo ... hi-1 of a panel at a time, with what values has for its columns.
func (c *columns) eachPanel(task func(lo, hi int, p panel.Panel, own []float64), values []float64) {
	for b := range c.shape.Panels() {
		p := c.shape.Panel(b)
		c.pool.Stripes(c.shape.Features, func(lo, hi int) { task(lo, hi, p, own(values, p)) })
	}
}

// own is the part of values for the columns of a panel, without those that fill it up.
func own(values []float64, p panel.Panel) []float64 {
	return values[p.First:min(len(values), p.First+p.Width)]
}
