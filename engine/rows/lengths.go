package rows

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Scaled is a view of the same rows, each times a factor. The values stay where they are: products apply it.
func (m *Matrix) Scaled(factor float64) *Matrix {
	view := *m
	view.scale *= factor
	return &view
}

// RootMeanSquare is the root of the mean squared length of the rows that are not zero, weighted by weights [rows]; 1
// where no such row has a weight. Rows times a power of two give the same bits times that power.
func (m *Matrix) RootMeanSquare(job *work.Job, weights []float64) float64 {
	// Squares of lengths up to 1e100 stay in the range of numbers; longer and shorter rows are measured in other units.
	for _, unit := range []float64{1, 0x1p350, 0x1p-350, 0x1p700, 0x1p-700, 0x1p1000} {
		square := m.Scaled(unit).meanSquare(job, weights)
		if square > 1e-200 && square < 1e200 {
			return math.Sqrt(square) / unit
		}
	}
	return 1
}

// Rows of these lengths have a finite inverse that keeps all its digits when it is multiplied by a weight.
const (
	shortest = 0x1p-1023
	longest  = 0x1p1000
)

const scaling = "scale your features (the largest value of X is %.4g in row %d, column %d)"

// CheckLength refuses rows that are too short or too long for a fit; length is their RootMeanSquare.
func (m *Matrix) CheckLength(length float64) error {
	if length >= shortest && length <= longest {
		return nil
	}
	value, row, feature := m.Largest()
	return fault.Data("rows of X are too short or too long for a fit: "+scaling, value, row, feature)
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

// Extremes are two numbers [2 cols] of each feature: the largest distance of its values from zero, and the smallest one
// times -1, in the rows of all machines that have a weight; -Inf without values. Copies of rows change nothing.
// full: in the mean of these rows more than half of the features with values are not zero.
func (m *Matrix) Extremes(job *work.Job, weights []float64) (ends []float64, full bool) {
	ends = slices.Repeat([]float64{math.Inf(-1)}, 2*m.cols)
	counts := make([]float64, 2) // rows, values that are not zero
	job.CountAndCheck(int64(m.NonZeros()))
	for i, weight := range weights {
		if weight > 0 {
			counts[0]++
			m.kernel.visit(i, func(col int, value float64) {
				if value = math.Abs(value); value > 0 {
					counts[1]++
					ends[2*col], ends[2*col+1] = max(ends[2*col], value), max(ends[2*col+1], -value)
				}
			})
		}
	}
	job.ReduceDeferred(counts)
	job.Largest(ends)
	features := 0.0
	for k := 0; k < len(ends); k += 2 {
		if ends[k] > 0 {
			features++
		}
	}
	if largest := slices.Max(ends); largest > 0 { // in steps, as another scale changes last digits
		for k, end := range ends {
			ends[k] = math.Floor(end/largest*endSteps + math.Sqrt2)
		}
	}
	return ends, 2*counts[1] > counts[0]*features
}

const endSteps = 1 << 30 // see valueSteps

// Totals are the sums [cols] of the numbers [n] of the rows that have a feature, on all machines, modulo 2^40: the
// order of rows changes nothing.
func (m *Matrix) Totals(job *work.Job, numbers []uint64) []float64 {
	const modulus = 1 << 40
	totals, sums := make([]uint64, m.cols), make([]float64, m.cols)
	job.CountAndCheck(int64(m.NonZeros()))
	for i, number := range numbers {
		m.kernel.visit(i, func(col int, value float64) {
			if value != 0 {
				totals[col] += number
			}
		})
	}
	for j, total := range totals {
		sums[j] = float64(total % modulus)
	}
	job.Reduce(sums)
	for j, sum := range sums {
		sums[j] = math.Mod(sum, modulus)
	}
	return sums
}

// Overflowed is the error of a fit of rows with this largest value.
func Overflowed(value float64, row, feature int) error {
	return fault.Data("the fit overflowed: "+scaling+" or raise alpha", value, row, feature)
}

// meanSquare is the weighted mean of the squared lengths that are not zero.
func (m *Matrix) meanSquare(job *work.Job, weights []float64) float64 {
	squares := make([]float64, m.Rows())
	job.CountAndCheck(int64(m.NonZeros()))
	job.Every(len(squares), func(i int) { squares[i] = m.SquaredNorm(i) })
	var total, sums [1]float64 // weight of the rows that are not zero; their mean square
	job.SumRows(len(squares), 0, total[:], func(i int, dst, _ []float64) {
		if squares[i] > 0 {
			dst[0] += weights[i]
		}
	})
	job.SumRows(len(squares), 0, sums[:], func(i int, dst, _ []float64) {
		if w := weights[i]; w > 0 {
			dst[0] += w / total[0] * squares[i]
		}
	})
	return sums[0]
}
