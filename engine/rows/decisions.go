package rows

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Weights are those of several outputs.
type Weights struct {
	Coef      []float64 // [outputs*cols] all features of an output side by side; ByFeature: all outputs of a feature
	Intercept []float64 // [outputs]
	ByFeature bool      // quicker, if there are several outputs
}

// Decisions sets dst [rows*outputs] to x_i . w_y + b_y, those of a row side by side. The terms of a sum are added in
// the order of the row's entries (of dense rows only ByFeature and for several outputs): so a row has the same bits
// alone and in a batch, on any number of threads.
func (m *Matrix) Decisions(pool *work.Pool, by Weights, dst []float64) {
	m.unscaled(&by)
	m.decided().decide(pool, &by, dst)
}

// EachDecisions calls each for the decisions [·*outputs] of some rows at a time, from row first on, on several
// goroutines.
func (m *Matrix) EachDecisions(pool *work.Pool, by Weights, each func(first int, decisions []float64)) {
	m.unscaled(&by)
	d := m.decided()
	d.eachPart(pool, &by, func(rows kernel, first, end int) bool {
		decisions := pool.Borrow((end - first) * len(by.Intercept))
		rows.decide(&by, d.cols, decisions)
		each(first, decisions)
		pool.Return(decisions)
		return true
	})
}

// unscaled makes the weights those of the stored rows.
func (m *Matrix) unscaled(by *Weights) {
	if m.scale != 1 {
		by.Coef = slices.Clone(by.Coef)
		vector.Scale(by.Coef, m.scale)
	}
}

func (m *Matrix) decided() decided {
	return decided{rows: m.Rows(), cols: m.cols, nonZeros: m.NonZeros(), part: m.kernel.part}
}

// decided are rows that decisions are wanted of.
type decided struct {
	rows, cols, nonZeros int
	part                 func(first, end int) kernel // some of them; nil if something is wrong with them
}

func (d decided) decide(pool *work.Pool, by *Weights, dst []float64) (ok bool) {
	outputs := len(by.Intercept)
	if len(dst) != d.rows*outputs {
		panic("rows: decisions of the wrong length")
	}
	return d.eachPart(pool, by, func(rows kernel, first, end int) bool {
		return rows.decide(by, d.cols, dst[first*outputs:end*outputs])
	})
}

// taskNonZeros are decided by one task.
const taskNonZeros = 1 << 15

func (d decided) eachPart(pool *work.Pool, by *Weights, task func(rows kernel, first, end int) bool) (ok bool) {
	if len(by.Coef) != len(by.Intercept)*d.cols {
		panic("rows: weights of the wrong length")
	}
	var failed atomic.Bool
	size := 1 + int(taskNonZeros*float64(d.rows)/float64(1+d.rows+d.nonZeros))
	pool.Run((d.rows+size-1)/size, func(b int) {
		first, end := b*size, min(d.rows, (b+1)*size)
		if rows := d.part(first, end); rows == nil || !task(rows, first, end) {
			failed.Store(true)
		}
	})
	return !failed.Load()
}

func (a *arrays[I, V]) decide(by *Weights, cols int, dst []float64) bool {
	if by.ByFeature && len(by.Intercept) > 1 {
		return a.byFeature(by, cols, dst)
	}
	return a.byOutput(by, cols, dst)
}

// byOutput takes one output after the other, for some rows at a time.
func (a *arrays[I, V]) byOutput(by *Weights, cols int, dst []float64) bool {
	var room [256]int
	outputs := len(by.Intercept)
	for first := 0; first < a.rows(); first += len(room) {
		lengths := room[:min(len(room), a.rows()-first)]
		for k := range lengths {
			lengths[k] = int(a.indptr[first+k+1] - a.indptr[first+k])
		}
		start, end := a.indptr[first], a.indptr[first+len(lengths)]
		for y, shift := range by.Intercept {
			w := by.Coef[y*cols : (y+1)*cols]
			if !inOrder(lengths, a.indices[start:end], a.values[start:end], w, shift, dst[first*outputs+y:], outputs) {
				return false
			}
		}
	}
	return true
}

// inOrder sets every dst[i*outputs] to Σ values[k] w[indices[k]] + shift over the entries of row i, one after the
// other; false if w has no such index. The rows lie one behind the other.
func inOrder[I index, V value](
	lengths []int, indices []I, values []V, w []float64, shift float64, dst []float64, outputs int,
) bool {
	if useLoops && unsafe.Sizeof(I(0)) > 2 {
		return inOrderLoop(lengths, indices, values, w, shift, dst, outputs)
	}
	for i, length := range lengths {
		sum := 0.0
		for k, j := range indices[:length] {
			if uint(j) >= uint(len(w)) {
				return false
			}
			sum += float64(values[k]) * w[j]
		}
		indices, values = indices[length:], values[length:]
		dst[i*outputs] = sum + shift
	}
	return true
}

// byFeature takes all outputs together.
func (a *arrays[I, V]) byFeature(by *Weights, cols int, dst []float64) bool {
	outputs, decide := len(by.Intercept), deciderOf[I, V](by, cols)
	for i := range a.rows() {
		if indices, values := a.row(i); !decide(indices, values, dst[i*outputs:(i+1)*outputs]) {
			return false
		}
	}
	return true
}

// decide of dense rows by feature takes them as rows with an entry for every feature.
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
	indices, decide := make([]int32, cols), deciderOf[int32, V](by, cols)
	for j := range indices {
		indices[j] = int32(j)
	}
	for i := range a.n {
		decide(indices, a.row(i), dst[i*outputs:(i+1)*outputs])
	}
	return true
}

// rowDecider decides a row by the weights of all outputs; false if an index is out of range.
type rowDecider[I index, V value] func(indices []I, values []V, dst []float64) bool

func deciderOf[I index, V value](by *Weights, cols int) rowDecider[I, V] {
	if useLoops && unsafe.Sizeof(I(0)) > 2 {
		return inLoops[I, V](by, cols)
	}
	return inGo[I, V](by, cols)
}

func inGo[I index, V value](by *Weights, cols int) rowDecider[I, V] {
	return func(indices []I, values []V, dst []float64) bool {
		clear(dst)
		values = values[:len(indices)]
		for k, j := range indices {
			if uint(j) >= uint(cols) {
				return false
			}
			v := float64(values[k])
			for y, weight := range by.Coef[int(j)*len(dst) : (int(j)+1)*len(dst)] {
				dst[y] += v * weight
			}
		}
		for y, shift := range by.Intercept {
			dst[y] += shift
		}
		return true
	}
}
