package rows

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Scaled is a view of the same rows, each times a factor. The values stay where they are: products apply it.
func (m *Matrix) Scaled(factor float64) *Matrix {
	view := *m
	view.scale *= factor
	return &view
}

// RootMeanSquare is the root of the mean square length of the rows that have a weight and are not zero, averaged by
// the weights [rows]; 1 where there is no such row. Rows times a power of two have the same bits times it.
func (m *Matrix) RootMeanSquare(job *work.Job, weights []float64) float64 {
	// Squares of lengths up to 1e100 stay in the range of numbers; longer and shorter rows are measured in other units.
	for _, unit := range []float64{1, 0x1p350, 0x1p-350, 0x1p700, 0x1p-700} {
		square := m.Scaled(unit).meanSquare(job, weights)
		if square > 1e-200 && square < 1e200 {
			return math.Sqrt(square) / unit
		}
	}
	return 1
}

// Lengths of rows whose inverse is a finite number and, times a weight, still has all its digits.
const (
	shortest = 0x1p-1023
	longest  = 0x1p1000
)

// CheckLength refuses rows in which no fit can count: length is their RootMeanSquare.
func (m *Matrix) CheckLength(length float64) error {
	if length >= shortest && length <= longest {
		return nil
	}
	return Overflowed(m.Largest())
}

// Largest is the value farthest from zero, with its row and its feature.
func (m *Matrix) Largest() (value float64, row, feature int) {
	for i := range m.Rows() {
		m.Row(i, func(col int, v float64) {
			if math.Abs(v) > math.Abs(value) {
				value, row, feature = v, i, col
			}
		})
	}
	return value, row, feature
}

// Overflowed is the error of a fit of rows with this largest value.
func Overflowed(value float64, row, feature int) error {
	return fault.Data("the fit overflowed: scale your features (the largest value of X is %.4g in row %d, column %d) or "+
		"raise alpha", value, row, feature)
}

// meanSquare is the mean of the squared lengths that are not zero, by the weights.
func (m *Matrix) meanSquare(job *work.Job, weights []float64) float64 {
	squares := make([]float64, m.Rows())
	job.CountAndCheck(int64(m.NonZeros()))
	job.Every(len(squares), func(i int) { squares[i] = m.SquaredNorm(i) })
	var total, sums [1]float64 // weight of the rows that count; their mean square
	job.Sum(len(squares), total[:], func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			if squares[i] > 0 {
				dst[0] += weights[i]
			}
		}
	})
	job.Sum(len(squares), sums[:], func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			if w := weights[i]; w > 0 {
				dst[0] += w / total[0] * squares[i]
			}
		}
	})
	return sums[0]
}

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
	pool.Every(len(rows), func(k int) {
		indices, values := a.row(int(rows[k]))
		copy(copied.indices[indptr[k]:], indices)
		copy(copied.values[indptr[k]:], values)
	})
	return copied
}

func (a *dense[V]) selected(pool *work.Pool, rows []int32, _ []int64) kernel {
	copied := &dense[V]{values: make([]V, len(rows)*a.d), n: len(rows), d: a.d, stride: a.d}
	pool.Every(len(rows), func(k int) { copy(copied.values[k*a.d:], a.row(int(rows[k]))) })
	return copied
}

// Gathered copies some rows of every machine to all of them, by rank; first is the place of this one's.
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
