package rows

import (
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
// alone and in a batch, on any number of threads. The error is for an index that is no feature.
func (m *Matrix) Decisions(pool *work.Pool, by Weights, dst []float64) error {
	outputs := len(by.Intercept)
	return m.EachDecisions(pool, by, func(first int, decisions []float64) { copy(dst[first*outputs:], decisions) })
}

// A task decides rows with about this many non-zeros, and not many more decisions than this.
const (
	taskNonZeros  = 1 << 15
	taskDecisions = 1 << 20
)

// EachDecisions gives the decisions [·*outputs] of all rows to each, for some rows at a time, the first of which is
// number first; several goroutines call it.
func (m *Matrix) EachDecisions(pool *work.Pool, by Weights, each func(first int, decisions []float64)) error {
	outputs, n := len(by.Intercept), m.Rows()
	need(len(by.Coef) == outputs*m.cols)
	if m.scale != 1 { // the weights of the stored rows
		by.Coef = slices.Clone(by.Coef)
		vector.Scale(by.Coef, m.scale)
	}
	var failed atomic.Bool
	size := 1 + min(int(taskNonZeros*float64(n)/float64(1+n+m.NonZeros())), taskDecisions/outputs)
	pool.Run((n+size-1)/size, func(b int) {
		first, end := b*size, min(n, (b+1)*size)
		decisions := pool.Borrow((end - first) * outputs)
		if m.kernel.part(first, end).decide(&by, decisions) {
			each(first, decisions)
		} else {
			failed.Store(true)
		}
		pool.Return(decisions)
	})
	if failed.Load() {
		_, err := m.Checked() // names what is wrong
		return err
	}
	return nil
}

func (a *arrays[I, V]) decide(by *Weights, dst []float64) bool {
	outputs, cols := len(by.Intercept), len(by.Coef)/len(by.Intercept)
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
		decisions := dst[i*outputs+first : i*outputs+first+width]
		for y, sum := range times(i) {
			decisions[y] = sum + shifts[y]
		}
	}
}

// decide of dense rows by feature is timesPanels, whose sums are added in the order of the features.
func (a *dense[V]) decide(by *Weights, dst []float64) bool {
	outputs, cols := len(by.Intercept), a.d
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
		for y, shift := range by.Intercept {
			dst[i*outputs+y] = sums[i*shape.Stride()+y] + shift
		}
	}
	return true
}
