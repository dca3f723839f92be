package rows

import (
	"math"
	"slices"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Rounded products of dense float32 rows with many columns: weights, and what multiplies the rows, are rounded to
// float32, in units in which they are about 1, and so are sums over the features and over sumRows rows; the sums of
// these sums are in float64. They are for solves on the way: a score is exact to some 1e-6 of the length of its terms.
// A fit of sentence embeddings of 20 classes takes half of the time. They need the loops of dense_rounded_amd64.s.

const (
	lane         = 8        // numbers in a register
	roundedWidth = 3 * lane // columns that go through the rows at a time,
	roundedRows  = 4        // so many
	sumRows      = 512      // that are added in float32
	coarse       = 0x1p-15  // makes numbers that multiply rows multiples of 2^-67 of their unit: float32 is slow below
	roundedTurn  = 32       // rows whose products wait in the fastest memory until they are multiplied with the rows
)

// roundedSums are of four rows and a part of the columns.
type roundedSums [roundedRows][roundedWidth]float32

type Rounded struct {
	of    *Matrix
	rows  *dense[float32]
	shape panel.Shape
}

// Rounded gives the rounded products for this number of columns; nil where there are none, or float32 has no room.
func (m *Matrix) Rounded(shape panel.Shape) *Rounded {
	a, ok := m.kernel.(*dense[float32])
	if ok && useLoops && shape.Stride() > 1 && a.n > 0 && m.scale > 1/mostUnit && m.scale < mostUnit {
		return &Rounded{m, a, shape}
	}
	return nil
}

const mostUnit = 1e25

// Weights in float32 are parts of up to roundedWidth columns, those of a feature side by side, filled up to registers.

func (a *dense[V]) roundedLen(shape panel.Shape) int {
	return a.d * ((shape.Stride() + lane - 1) / lane * lane)
}

// eachRounded visits the parts: the first column, the columns there are, and those with what fills the registers.
func eachRounded(shape panel.Shape, visit func(first, columns, width int)) {
	for first := 0; first < shape.Stride(); first += roundedWidth {
		columns := min(roundedWidth, shape.Stride()-first)
		visit(first, columns, (columns+lane-1)/lane*lane)
	}
}

// eachRun visits, feature by feature, the columns that lie side by side both in weights p of a shape and rounded.
func (a *dense[V]) eachRun(
	p []float64, rounded []float32, shape panel.Shape, visit func(p []float64, rounded []float32),
) {
	eachRounded(shape, func(first, columns, width int) {
		for done := 0; done < columns; {
			of := shape.Panel((first + done) / panel.Width)
			from, to := of.Start+first+done-of.First, first*a.d+done
			run := min(columns-done, of.First+of.Width-first-done)
			for j := range a.d {
				visit(p[from+j*of.Stride:from+j*of.Stride+run], rounded[to+j*width:])
			}
			done += run
		}
	})
}

func (a *dense[V]) round(p []float64, shape panel.Shape) (weights []float32, unit float64) {
	for _, v := range p {
		unit = max(unit, math.Abs(v))
	}
	if unit == 0 || math.IsInf(unit, 0) || math.IsNaN(unit) {
		unit = 1
	}
	weights = make([]float32, a.roundedLen(shape))
	a.eachRun(p, weights, shape, func(p []float64, rounded []float32) {
		for c, v := range p {
			rounded[c] = float32(v / unit)
		}
	})
	return weights, unit
}

// spread adds unit times sums in float32, and clears them.
func (a *dense[V]) spread(dst []float64, sums []float32, unit float64, shape panel.Shape) {
	a.eachRun(dst, sums, shape, func(dst []float64, sums []float32) {
		for c := range dst {
			dst[c] += unit * float64(sums[c])
		}
	})
	clear(sums)
}

// Times is TimesPanels, rounded.
func (r *Rounded) Times(job *work.Job, on *Subset, dst, p []float64) {
	needPanels(r.of, dst, p, r.shape)
	weights, unit := r.rows.round(p, r.shape)
	on.eachChunk(job.Pool, func(rows []int32) { r.rows.timesRounded(rows, dst, weights, unit*r.of.scale, r.shape) })
}

// AddTransposed is AddTransposedPanels, rounded; unit is about the largest entry of q.
func (r *Rounded) AddTransposed(job *work.Job, on *Subset, dst, q []float64, unit float64) {
	needPanels(r.of, q, dst, r.shape)
	r.sums(job, on, dst, q, nil, unit, func([]int32, []float64) {})
}

// onRows is called for some rows: it may change their products, and adds to sums.
type onRows func(rows []int32, sums []float64)

// AddGram is Times and then AddTransposed, with one look at each row. products has the former for some rows when change
// is called: it replaces them by what multiplies these rows, at most about unit times as much.
func (r *Rounded) AddGram(job *work.Job, on *Subset, dst, products, p, sums []float64, unit float64, change onRows) {
	needPanels(r.of, products, dst, r.shape)
	weights, size := r.rows.round(p, r.shape)
	r.sums(job, on, dst, products, sums, unit*size, func(rows []int32, sums []float64) {
		r.rows.timesRounded(rows, products, weights, size*r.of.scale, r.shape)
		change(rows, sums)
	})
}

// sums adds Σ q_i x_i to dst, rounded; q is there once before has been called for its rows.
func (r *Rounded) sums(job *work.Job, on *Subset, dst, q, sums []float64, unit float64, before onRows) {
	r.of.addBlocks(job, on, dst, sums, func(rows []int32, dst, sums []float64) {
		rounded := make([]float32, r.rows.roundedLen(r.shape))
		for many := range slices.Chunk(rows, sumRows) {
			for some := range slices.Chunk(many, roundedTurn) {
				before(some, sums)
				r.rows.addRounded(some, rounded, q, 1/unit, r.shape)
			}
			r.rows.spread(dst, rounded, unit*r.of.scale, r.shape)
		}
	})
}

// four finds up to four rows; the last one stands for those that are missing.
func (a *dense[V]) four(rows []int32, places *[roundedRows]unsafe.Pointer) {
	for k := range places {
		places[k] = unsafe.Pointer(unsafe.SliceData(a.row(int(rows[min(k, len(rows)-1)]))))
	}
}

func (a *dense[V]) timesRounded(rows []int32, dst []float64, weights []float32, unit float64, shape panel.Shape) {
	sums, places := new(roundedSums), new([roundedRows]unsafe.Pointer)
	for some := range slices.Chunk(rows, roundedRows) {
		a.four(some, places)
		eachRounded(shape, func(first, columns, width int) {
			*sums = roundedSums{}
			dotRounded[width/lane-1](a.d, 4*roundedRows*a.stride, places, &weights[first*a.d], sums)
			for k, i := range some {
				out := dst[int(i)*shape.Stride()+first:]
				for c, v := range sums[k][:columns] {
					out[c] = unit * float64(v)
				}
			}
		})
	}
}

func (a *dense[V]) addRounded(rows []int32, sums []float32, q []float64, unit float64, shape panel.Shape) {
	scales, places := new(roundedSums), new([roundedRows]unsafe.Pointer)
	for some := range slices.Chunk(rows, roundedRows) {
		a.four(some, places)
		eachRounded(shape, func(first, columns, width int) {
			*scales = roundedSums{}
			for k, i := range some {
				at := int(i)*shape.Stride() + first
				for c, v := range q[at : at+columns] {
					scales[k][c] = float32((v*unit + coarse) - coarse)
				}
			}
			axpyRounded[width/lane-1](a.d, 4*roundedRows*a.stride, places, &sums[first*a.d], scales)
		})
	}
}
