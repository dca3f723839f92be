package rows

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Selected are some rows, with all features: copies of sparse ones, a list of dense ones.
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
	pool.Every(len(rows), func(k int) {
		indices, values := a.row(int(rows[k]))
		copy(copied.indices[indptr[k]:], indices)
		copy(copied.values[indptr[k]:], values)
	})
	return copied
}

func (a *dense[V]) selected(_ *work.Pool, rows []int32, _ []int64) kernel {
	list := slices.Clone(rows)
	for k, i := range rows {
		if a.list != nil {
			list[k] = a.list[i]
		}
	}
	return &dense[V]{a.values, len(list), a.d, a.stride, list}
}

// SelectedBytes is the memory that selected rows with this number of non-zeros take.
func (m *Matrix) SelectedBytes(nonZeros float64) float64 {
	if m.Dense() {
		return 0
	}
	return (8 + 4) * nonZeros
}

// Gathered copies some rows of every machine to all machines, in the order of the ranks; first is the place of the
// first row from this machine.
func (m *Matrix) Gathered(job *work.Job, rows []int32) (gathered *Matrix, first int) {
	var sent []float64 // for each row: the number of its non-zeros, then their features and values
	for _, i := range rows {
		sent = append(sent, float64(m.RowNonZeros(int(i))))
		m.Row(int(i), func(col int, value float64) { sent = append(sent, float64(col), value) })
	}
	all, place := job.Gather(sent)
	indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
	for k := 0; k < len(all); {
		if k < place {
			first++
		}
		end := k + 1 + 2*int(all[k])
		for k++; k < end; k += 2 {
			indices, values = append(indices, int32(all[k])), append(values, all[k+1])
		}
		indptr = append(indptr, int64(len(indices)))
	}
	gathered = newMatrix(m.cols, &arrays[int32, float64]{indptr, indices, values}, indptr)
	gathered.everywhere = true
	return gathered, first
}
