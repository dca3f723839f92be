package rows

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

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
	parts []panel.Panel // of weights in float32: up to roundedWidth columns, their stride filled up to registers
}

// Rounded gives the rounded products for this number of columns; nil where there are none, or float32 has no room.
func (m *Matrix) Rounded(shape panel.Shape) *Rounded {
	a, ok := m.kernel.(*dense[float32])
	if !ok || !useLoops || shape.Stride() == 1 || a.n == 0 || m.scale <= 1/mostUnit || m.scale >= mostUnit {
		return nil
	}
	r := &Rounded{of: m, rows: a, shape: shape}
	for first := 0; first < shape.Stride(); first += roundedWidth {
		columns := min(roundedWidth, shape.Stride()-first)
		r.parts = append(r.parts, panel.Panel{Start: first * a.d, Stride: (columns + lane - 1) / lane * lane, First: first,
			Width: columns})
	}
	return r
}

const mostUnit = 1e25

// zeros are weights in float32.
func (r *Rounded) zeros() []float32 {
	last := r.parts[len(r.parts)-1]
	return make([]float32, last.Start+last.Stride*r.rows.d)
}

// eachRun visits, feature by feature, the columns that lie side by side both in weights p of the shape and rounded.
func (r *Rounded) eachRun(p []float64, rounded []float32, visit func(p []float64, rounded []float32)) {
	for _, part := range r.parts {
		for first, end := part.First, part.First+part.Width; first < end; {
			of := r.shape.Panel(first / panel.Width)
			from, to, run := of.Start+first-of.First, part.Start+first-part.First, min(end, of.First+of.Width)-first
			for j := range r.rows.d {
				visit(p[from+j*of.Stride:from+j*of.Stride+run], rounded[to+j*part.Stride:])
			}
			first += run
		}
	}
}

func (r *Rounded) round(p []float64) (weights []float32, unit float64) {
	unit = floats.Norm(p, math.Inf(1))
	if unit == 0 || math.IsInf(unit, 0) || math.IsNaN(unit) {
		unit = 1
	}
	weights = r.zeros()
	r.eachRun(p, weights, func(p []float64, rounded []float32) {
		for c, v := range p {
			rounded[c] = float32(v / unit)
		}
	})
	return weights, unit
}

// spread adds unit times sums in float32, and clears them.
func (r *Rounded) spread(dst []float64, sums []float32, unit float64) {
	r.eachRun(dst, sums, func(dst []float64, sums []float32) {
		for c := range dst {
			dst[c] += unit * float64(sums[c])
		}
	})
	clear(sums)
}

// Times is TimesPanels, rounded.
func (r *Rounded) Times(job *work.Job, on *Subset, dst, p []float64) {
	needPanels(r.of, dst, p, r.shape)
	weights, unit := r.round(p)
	on.eachChunk(job.Pool, func(rows []int32) { r.times(rows, dst, weights, unit*r.of.scale) })
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
	weights, size := r.round(p)
	r.sums(job, on, dst, products, sums, unit*size, func(rows []int32, sums []float64) {
		r.times(rows, products, weights, size*r.of.scale)
		change(rows, sums)
	})
}

// sums adds Σ q_i x_i to dst, rounded; q is there once before has been called for its rows.
func (r *Rounded) sums(job *work.Job, on *Subset, dst, q, sums []float64, unit float64, before onRows) {
	r.of.addBlocks(job, on, dst, sums, func(rows []int32, dst, sums []float64) {
		rounded := r.zeros()
		for many := range slices.Chunk(rows, sumRows) {
			for some := range slices.Chunk(many, roundedTurn) {
				before(some, sums)
				r.add(some, rounded, q, 1/unit)
			}
			r.spread(dst, rounded, unit*r.of.scale)
		}
	})
}

// eachPart calls multiply for up to four rows at a time with each part of the columns.
func (r *Rounded) eachPart(rows []int32, multiply onPart) {
	r.rows.eachPart(rows, roundedRows, r.parts, roundedWidth, false, multiply)
}

func (r *Rounded) times(rows []int32, dst []float64, weights []float32, unit float64) {
	sums := new(roundedSums)
	r.eachPart(rows, func(some []int32, places *places, part panel.Panel) {
		*sums = roundedSums{}
		dotRounded[part.Stride/lane-1](r.rows.d, 4*roundedRows*r.rows.stride, places, &weights[part.Start], sums)
		for k, i := range some {
			out := dst[int(i)*r.shape.Stride()+part.First:]
			for c, v := range sums[k][:part.Width] {
				out[c] = unit * float64(v)
			}
		}
	})
}

func (r *Rounded) add(rows []int32, sums []float32, q []float64, unit float64) {
	scales := new(roundedSums)
	r.eachPart(rows, func(some []int32, places *places, part panel.Panel) {
		*scales = roundedSums{}
		for k, i := range some {
			for c, v := range q[int(i)*r.shape.Stride()+part.First:][:part.Width] {
				scales[k][c] = float32((v*unit + coarse) - coarse)
			}
		}
		axpyRounded[part.Stride/lane-1](r.rows.d, 4*roundedRows*r.rows.stride, places, &sums[part.Start], scales)
	})
}
