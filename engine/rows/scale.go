package rows

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Scaled is a view of the same rows, each times a factor. Products apply it to a row's sum or to what multiplies the
// row: the values stay where they are.
func (m *Matrix) Scaled(factor float64) *Matrix {
	view := *m
	view.scale *= factor
	return &view
}

// RootMeanSquare is the root of the mean square length of the rows that have a weight and are not zero, averaged by
// the weights [rows] (nil: all 1); 1 where there is no such row. Rows times a power of two have the same bits times it.
func (m *Matrix) RootMeanSquare(job *work.Job, weights []float64) float64 {
	// Squares of lengths up to 1e100 stay in the range of numbers; longer and shorter rows are measured in other units.
	for _, unit := range []float64{1, 0x1p700, 0x1p-700} {
		square := meanSquare(job, squares(job, m.Scaled(unit)), weights)
		if square > 1e-200 && square < 1e200 {
			return math.Sqrt(square) / unit
		}
	}
	return 1
}

// meanSquare is the mean of the squared lengths that are not zero, by the weights.
func meanSquare(job *work.Job, squares, weights []float64) float64 {
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	var total, sums [1]float64 // weight of the rows that count; their mean square
	job.Sum(len(squares), total[:], func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			if squares[i] > 0 {
				dst[0] += weight(i)
			}
		}
	})
	job.Sum(len(squares), sums[:], func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			if w := weight(i); w > 0 {
				dst[0] += w / total[0] * squares[i]
			}
		}
	})
	return sums[0]
}

// squares are the squared lengths [rows].
func squares(job *work.Job, m *Matrix) []float64 {
	squares := make([]float64, m.Rows())
	job.CountAndCheck(int64(m.NonZeros()))
	job.EachRow(len(squares), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			squares[i] = m.SquaredNorm(i)
		}
	})
	return squares
}
