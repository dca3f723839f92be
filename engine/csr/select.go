package csr

import "github.com/fewlabel/fewlabel/engine/work"

// Selected copies some rows, with all features.
func (m *Matrix) Selected(rows []int32) *Matrix {
	selected := m.Subset(rows)
	indptr, values := make([]int64, 1, len(rows)+1), make([]float64, 0, selected.nonZeros)
	indices := make([]int32, 0, selected.nonZeros)
	for _, i := range rows {
		m.Row(int(i), func(col int, value float64) {
			indices, values = append(indices, int32(col)), append(values, value)
		})
		indptr = append(indptr, int64(len(indices)))
	}
	list := make([]int32, len(rows))
	for i := range list {
		list[i] = int32(i)
	}
	return newMatrix(m.cols, &arrays[int32, float64]{indptr, indices, values}, indptr, list)
}

// Gathered copies some rows of every machine to all of them, in the order of the machines; first is the place of this
// one's.
func (m *Matrix) Gathered(job *work.Job, rows []int32) (gathered *Matrix, first int) {
	var lengths, indices, values []float64
	for _, i := range rows {
		lengths = append(lengths, float64(m.rowLength(i)))
		m.Row(int(i), func(col int, value float64) {
			indices, values = append(indices, float64(col)), append(values, value)
		})
	}
	lengths, first = job.Gather(lengths)
	indices, _ = job.Gather(indices)
	values, _ = job.Gather(values)
	indptr, list := make([]int64, len(lengths)+1), make([]int32, len(lengths))
	for i, length := range lengths {
		list[i], indptr[i+1] = int32(i), indptr[i]+int64(length)
	}
	cols := make([]int32, len(indices))
	for k, col := range indices {
		cols[k] = int32(col)
	}
	return newMatrix(m.cols, &arrays[int32, float64]{indptr, cols, values}, indptr, list).Everywhere(), first
}
