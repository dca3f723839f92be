package csr

import (
	"sync/atomic"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Rows are the caller's arrays before anybody has looked at them.
type Rows interface {
	// Matrix checks all of them, for many products.
	Matrix() (*Matrix, error)
	// Decisions sets dst [rows*outputs] to x_i . w_y + b_y, those of a row side by side. It is for one product: the
	// indices are checked along the way, the values are not: NaN and infinity go into the decisions of their row. The
	// terms of a sum are added in the order of the row's entries: so a row has the same bits alone and in a batch, on any
	// number of threads.
	Decisions(pool *work.Pool, by Weights, dst []float64) error
}

// Weights are those of several outputs.
type Weights struct {
	Coef      []float64 // [outputs*cols] all features of an output side by side; ByFeature: all outputs of a feature
	Intercept []float64 // [outputs]
	ByFeature bool      // quicker, if there are several outputs
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

func (a *view[P, I, V]) rows() int { return len(a.indptr) - 1 }

// taskNonZeros are decided by one task.
const taskNonZeros = 1 << 15

func (a *view[P, I, V]) Decisions(pool *work.Pool, by Weights, dst []float64) error {
	if err := checkShape(a.cols, 1); err != nil {
		return err
	}
	n, outputs := a.rows(), len(by.Intercept)
	if len(by.Coef) != outputs*a.cols || len(dst) != n*outputs {
		panic("csr: decisions of the wrong length")
	}
	decide := a.byOutput
	if by.ByFeature && outputs > 1 {
		decide = a.byFeature
	}
	var failed atomic.Bool
	failed.Store(a.indptr[0] != 0)
	size := 1 + int(taskNonZeros*float64(n)/float64(1+n+len(a.indices)))
	pool.Run((n+size-1)/size, func(b int) {
		first, end := b*size, min(n, (b+1)*size)
		if !decide(first, end, &by, dst[first*outputs:end*outputs]) {
			failed.Store(true)
		}
	})
	if !failed.Load() {
		return nil
	}
	_, err := a.Matrix() // says what is wrong
	return err
}

// span gives the places of the entries of row i; false if indptr is wrong there.
func (a *view[P, I, V]) span(i int) (lo, hi int, ok bool) {
	lo, hi = int(a.indptr[i]), int(a.indptr[i+1])
	return lo, hi, 0 <= lo && lo <= hi && hi <= len(a.indices)
}

// byOutput takes one output after the other, for some rows at a time.
func (a *view[P, I, V]) byOutput(first, end int, by *Weights, dst []float64) bool {
	var room [256]int
	outputs := len(by.Intercept)
	for first < end {
		lengths := room[:min(len(room), end-first)]
		start, next := int(a.indptr[first]), int(a.indptr[first])
		for k := range lengths {
			lo, hi, ok := a.span(first + k)
			if !ok {
				return false
			}
			lengths[k], next = hi-lo, hi
		}
		for y, shift := range by.Intercept {
			w := by.Coef[y*a.cols : (y+1)*a.cols]
			if !inOrder(lengths, a.indices[start:next], a.values[start:next], w, shift, dst[y:], outputs) {
				return false
			}
		}
		first, dst = first+len(lengths), dst[len(lengths)*outputs:]
	}
	return true
}

// inOrder sets every dst[i*outputs] to Σ values[k] w[indices[k]] + shift over the entries of row i, one after the
// other; false if w has no such index. The rows lie one behind the other.
func inOrder[I index, V value](
	lengths []int, indices []I, values []V, w []float64, shift float64, dst []float64, outputs int,
) bool {
	if useLoops {
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
func (a *view[P, I, V]) byFeature(first, end int, by *Weights, dst []float64) bool {
	outputs, decide := len(by.Intercept), inGo[I, V](by, a.cols)
	if useLoops {
		decide = inLoops[I, V](by, a.cols)
	}
	for i := first; i < end; i++ {
		lo, hi, ok := a.span(i)
		if !ok || !decide(a.indices[lo:hi], a.values[lo:hi], dst[(i-first)*outputs:(i-first+1)*outputs]) {
			return false
		}
	}
	return true
}

// rowDecider decides a row by the weights of all outputs; false if an index is out of range.
type rowDecider[I index, V value] func(indices []I, values []V, dst []float64) bool

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
