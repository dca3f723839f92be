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
	var own []float64 // of every row the number of its non-zeros, then their features and values
	for _, i := range rows {
		own = append(own, float64(m.rowLength(i)))
		m.Row(int(i), func(col int, value float64) { own = append(own, float64(col), value) })
	}
	all, place := job.Gather(own)
	indptr, indices, values, list := []int64{0}, []int32(nil), []float64(nil), []int32(nil)
	for at := 0; at < len(all); {
		if at < place {
			first++
		}
		end := at + 1 + 2*int(all[at])
		for at++; at < end; at += 2 {
			indices, values = append(indices, int32(all[at])), append(values, all[at+1])
		}
		list, indptr = append(list, int32(len(list))), append(indptr, int64(len(indices)))
	}
	return newMatrix(m.cols, &arrays[int32, float64]{indptr, indices, values}, indptr, list).Everywhere(), first
}
