package rows

import (
	"cmp"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

type Weights struct {
	Coef      []float64 // [outputs*cols] all features of an output side by side; ByFeature: all outputs of a feature
	Intercept []float64 // [outputs]
	ByFeature bool      // quicker, if there are several outputs
}

// Decisions sets dst [rows*outputs] to x_i . w_y + b_y, those of a row side by side. The terms of a sum are added in
// the order of the row's entries (of dense rows only ByFeature and for several outputs): so a row has the same bits
// alone and in a batch, on any number of threads.
func (m *Matrix) Decisions(pool *work.Pool, by Weights, dst []float64) {
	m.EachDecisions(pool, by, by.into(dst))
}

// receiver gets decisions [·*outputs] of some rows, from row first on; several goroutines call it.
type receiver func(first int, decisions []float64)

// EachDecisions gives the decisions of all rows to a receiver.
func (m *Matrix) EachDecisions(pool *work.Pool, by Weights, each receiver) {
	if m.scale != 1 { // the weights of the stored rows
		by.Coef = slices.Clone(by.Coef)
		vector.Scale(by.Coef, m.scale)
	}
	eachDecisions(pool, m.kernel, m.Rows(), m.NonZeros(), &by, m.cols, each)
}

func (w *Weights) into(dst []float64) receiver {
	outputs := len(w.Intercept)
	return func(first int, decisions []float64) { copy(dst[first*outputs:], decisions) }
}

// A task decides rows with about so many non-zeros, and not many more decisions than so.
const (
	taskNonZeros  = 1 << 15
	taskDecisions = 1 << 20
)

// eachDecisions reports whether all indices are features.
func eachDecisions(pool *work.Pool, k kernel, n, nonZeros int, by *Weights, cols int, each receiver) (ok bool) {
	outputs := len(by.Intercept)
	need(len(by.Coef) == outputs*cols)
	var failed atomic.Bool
	size := 1 + min(int(taskNonZeros*float64(n)/float64(1+n+nonZeros)), taskDecisions/outputs)
	pool.Run((n+size-1)/size, func(b int) {
		first, end := b*size, min(n, (b+1)*size)
		decisions := pool.Borrow((end - first) * outputs)
		if k.part(first, end).decide(by, cols, decisions) {
			each(first, decisions)
		} else {
			failed.Store(true)
		}
		pool.Return(decisions)
	})
	return !failed.Load()
}

func (a *arrays[I, V]) decide(by *Weights, cols int, dst []float64) bool {
	outputs := len(by.Intercept)
	if !by.ByFeature || outputs < 4 {
		return a.eachOutput(by, cols, dst)
	}
	if !a.inside(cols) {
		return false
	}
	for first := 0; first < outputs; {
		width := min(panel.Width, (outputs-first)/4*4)
		if width == 0 { // some outputs once more: the loops take four at a time
			first, width = outputs-4, 4
		}
		a.someOutputs(by, first, width, dst)
		first += width
	}
	return true
}

// inside reports whether there is a feature for every index.
func (a *arrays[I, V]) inside(cols int) bool {
	signs, last := int64(0), int64(cols-1)
	for _, j := range a.indices[a.indptr[0]:a.indptr[len(a.indptr)-1]] {
		signs |= int64(j) | (last - int64(j))
	}
	return signs >= 0
}

func (a *arrays[I, V]) eachOutput(by *Weights, cols int, dst []float64) bool {
	outputs := len(by.Intercept)
	for y, shift := range by.Intercept {
		first, step := y*cols, 1
		if by.ByFeature {
			first, step = y, outputs
		}
		w := unsafe.Pointer(&by.Coef[first])
		for i := range a.rows() {
			indices, values := a.row(i)
			sum, ok := inOrder(indices, values, w, step, cols)
			if !ok {
				return false
			}
			dst[i*outputs+y] = sum + shift
		}
	}
	return true
}

// inOrder is Σ values[k] w[indices[k] step], one term after the other; false if an index is no feature.
func inOrder[I index, V value](indices []I, values []V, w unsafe.Pointer, step, cols int) (sum float64, ok bool) {
	values = values[:len(indices)]
	for k, j := range indices {
		if uint64(j) >= uint64(cols) {
			return 0, false
		}
		sum += float64(values[k]) * at[float64](w, int(j)*step)
	}
	return sum, true
}

// someOutputs takes a multiple of four outputs together, up to panel.Width; the weights are those of ByFeature.
func (a *arrays[I, V]) someOutputs(by *Weights, first, width int, dst []float64) {
	outputs, shifts := len(by.Intercept), by.Intercept[first:first+width]
	times := a.panelTimes(unsafe.Pointer(&by.Coef[first]), outputs, width)
	for i := range a.rows() {
		own := dst[i*outputs+first : i*outputs+first+width]
		for y, sum := range times(i) {
			own[y] = sum + shifts[y]
		}
	}
}

// decide of dense rows by feature is timesPanels, whose sums are added in the order of the features.
func (a *dense[V]) decide(by *Weights, cols int, dst []float64) bool {
	outputs := len(by.Intercept)
	if outputs == 1 || !by.ByFeature {
		for i := range a.n {
			for y, shift := range by.Intercept {
				dst[i*outputs+y] = denseDot(a.row(i), by.Coef[y*cols:]) + shift
			}
		}
		return true
	}
	shape := panel.Shape{Features: cols, Classes: outputs}
	weights, sums := make([]float64, shape.Len()), make([]float64, a.n*shape.Stride())
	for first := 0; first < outputs; first += panel.Width {
		of := shape.Panel(first / panel.Width)
		for j := range cols {
			copy(weights[of.Start+j*of.Stride:], by.Coef[j*outputs+first:j*outputs+min(outputs, first+of.Width)])
		}
	}
	a.timesPanels(upTo(a.n), sums, weights, shape)
	for i := range a.n {
		own := sums[i*shape.Stride():]
		for y, shift := range by.Intercept {
			dst[i*outputs+y] = own[y] + shift
		}
	}
	return true
}

// Rows are the caller's arrays before anybody has looked at them.
type Rows interface {
	// Matrix checks all of them, for many products.
	Matrix() (*Matrix, error)
	// Decisions are those of the Matrix. It is for one product: the indices are checked along the way, the values are not:
	// NaN and infinity go into the decisions of their row.
	Decisions(pool *work.Pool, by Weights, dst []float64) error
}

// View views len(indptr)-1 rows with cols features.
func View[P, I int32 | int64, V float32 | float64](cols int, indptr []P, indices []I, values []V) Rows {
	stored := min(len(indices), len(values))
	return &view[P, I, V]{cols, indptr, indices[:stored], values[:stored]}
}

type view[P, I int32 | int64, V float32 | float64] struct {
	cols    int
	indptr  []P
	indices []I
	values  []V
}

func (a *view[P, I, V]) Matrix() (*Matrix, error) { return New(a.cols, a.indptr, a.indices, a.values) }

func (a *view[P, I, V]) Decisions(pool *work.Pool, by Weights, dst []float64) error {
	if err := cmp.Or(checkShape(a.cols, 1), needForRows(len(a.indptr)-1, 0)); err != nil {
		return err
	}
	rows := &arrays[I, V]{widened(a.indptr), a.indices, a.values}
	if err := rows.checkBounds(); err != nil {
		return err
	}
	if eachDecisions(pool, rows, rows.rows(), len(a.indices), &by, a.cols, by.into(dst)) {
		return nil
	}
	_, err := a.Matrix() // names what is wrong
	return err
}
