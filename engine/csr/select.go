package csr

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
