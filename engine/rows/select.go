package rows

import "github.com/fewlabel/fewlabel/engine/work"

// Selected copies some rows, with all features.
func (m *Matrix) Selected(pool *work.Pool, rows []int32) *Matrix {
	indptr := make([]int64, len(rows)+1)
	for k, i := range rows {
		indptr[k+1] = indptr[k] + int64(m.RowNonZeros(int(i)))
	}
	selected := newMatrix(m.cols, m.kernel.selected(pool, rows, indptr), indptr)
	selected.scale = m.scale
	return selected
}

func (a *arrays[I, V]) selected(pool *work.Pool, rows []int32, indptr []int64) kernel {
	total := indptr[len(rows)]
	copied := &arrays[I, V]{indptr, make([]I, total), make([]V, total)}
	pool.Stripes(len(rows), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			indices, values := a.row(int(rows[k]))
			copy(copied.indices[indptr[k]:], indices)
			copy(copied.values[indptr[k]:], values)
		}
	})
	return copied
}

func (a *dense[V]) selected(pool *work.Pool, rows []int32, _ []int64) kernel {
	copied := &dense[V]{values: make([]V, len(rows)*a.d), n: len(rows), d: a.d, stride: a.d}
	pool.Stripes(len(rows), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			copy(copied.values[k*a.d:], a.row(int(rows[k])))
		}
	})
	return copied
}

// Gathered copies some rows of every machine to all of them, in the order of the machines; first is the place of this
// one's.
func (m *Matrix) Gathered(job *work.Job, rows []int32) (gathered *Matrix, first int) {
	var own []float64 // of every row the number of its non-zeros, then their features and values
	for _, i := range rows {
		own = append(own, float64(m.RowNonZeros(int(i))))
		m.Row(int(i), func(col int, value float64) { own = append(own, float64(col), value) })
	}
	all, place := job.Gather(own)
	indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
	for at := 0; at < len(all); {
		if at < place {
			first++
		}
		end := at + 1 + 2*int(all[at])
		for at++; at < end; at += 2 {
			indices, values = append(indices, int32(all[at])), append(values, all[at+1])
		}
		indptr = append(indptr, int64(len(indices)))
	}
	gathered = newMatrix(m.cols, &arrays[int32, float64]{indptr, indices, values}, indptr)
	gathered.everywhere = true
	return gathered, first
}
