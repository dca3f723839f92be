package rows

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
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
// the order of the row's entries, those of dense rows in an order that the features determine: so a row has the same
// bits alone and in a batch, on any number of threads. The errors are for an index that is no feature and for decisions
// that are no finite numbers.
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
	size := min(m.rowsWith(taskNonZeros), 1+taskDecisions/outputs)
	numbers := Numbers(min(n, size))
	pool.Run((n+size-1)/size, func(b int) {
		first, end := b*size, min(n, (b+1)*size)
		decisions := make([]float64, (end-first)*outputs)
		known := decide(m.kernel.part(first, end), numbers[:end-first], &by, decisions)
		if known && vector.Finite(decisions) {
			each(first, decisions)
		} else {
			failed.Store(true)
		}
	})
	if !failed.Load() {
		return nil
	}
	checked, err := m.Checked() // names what is wrong
	if err != nil {
		return err
	}
	if !vector.Finite(by.Coef, by.Intercept) {
		return fault.Data("coef or intercept has NaN or infinity")
	}
	value, row, feature := checked.Largest()
	return fault.Data("decisions overflow: "+scaling, value, row, feature)
}

// panels are the outputs of ByFeature, four or more, in multiples of four; the last ones may be there twice.
func (w *Weights) panels() (panels []panel.Panel) {
	outputs := len(w.Intercept)
	for first := 0; first < outputs; {
		width := min(panel.Width, (outputs-first)/4*4)
		if width == 0 {
			first, width = outputs-4, 4
		}
		panels = append(panels, panel.Panel{Start: first, Stride: outputs, First: first, Width: width})
		first += width
	}
	return panels
}

// decide gives decisions of all rows of a kernel, whose numbers are rows; false if an index is no feature.
func decide(k kernel, rows []int32, by *Weights, dst []float64) bool {
	outputs, cols := len(by.Intercept), len(by.Coef)/len(by.Intercept)
	if by.ByFeature && outputs >= 4 {
		if !k.inside(cols) {
			return false
		}
		k.timesPanels(rows, dst, by.Coef, outputs, by.panels())
	} else {
		next, step := cols, 1 // from an output's weights to the next output's; from a feature to the next
		if by.ByFeature {
			next, step = 1, outputs
		}
		for y := range outputs {
			if !k.timesColumn(dst[y:], outputs, by.Coef[y*next:], step, cols) {
				return false
			}
		}
	}
	for row := range slices.Chunk(dst, outputs) {
		for y, shift := range by.Intercept {
			row[y] += shift
		}
	}
	return true
}

func (a *arrays[I, V]) inside(cols int) bool {
	signs, last := int64(0), int64(cols-1)
	for _, j := range a.indices[a.indptr[0]:a.indptr[len(a.indptr)-1]] {
		signs |= int64(j) | (last - int64(j))
	}
	return signs >= 0
}

func (a *arrays[I, V]) timesColumn(dst []float64, every int, w []float64, step, cols int) bool {
	column := unsafe.Pointer(&w[0])
	for i := range a.rows() {
		indices, values := a.row(i)
		values = values[:len(indices)]
		sum := 0.0
		for k, j := range indices {
			if uint64(j) >= uint64(cols) {
				return false
			}
			sum += float64(values[k]) * at[float64](column, int(j)*step)
		}
		dst[i*every] = sum
	}
	return true
}

func (a *dense[V]) inside(int) bool { return true }

func (a *dense[V]) timesColumn(dst []float64, every int, w []float64, step, cols int) bool {
	if step > 1 {
		column := make([]float64, cols)
		for j := range column {
			column[j] = w[j*step]
		}
		w = column
	}
	for i := range a.n {
		dst[i*every] = denseDot(a.row(i), w)
	}
	return true
}
