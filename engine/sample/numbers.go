package sample

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// HugeValue is a weight whose products overflow, or are so large that no solve converges.
const HugeValue = 1e50

// longestRows have a length whose inverse, times the weight of a row, still has all its digits.
const longestRows = 0x1p1000

// CheckFinite refuses a result that is not finite.
func (s *Sample) CheckFinite(objective float64, results ...[]float64) error {
	finite := isFinite(objective)
	for _, list := range results {
		for _, v := range list {
			finite = finite && isFinite(v)
		}
	}
	if finite {
		return nil
	}
	return s.OutOfRange()
}

// OutOfRange is the error of a fit that has overflowed.
func (s *Sample) OutOfRange() error {
	value, row, feature := largestValue(s)
	return fault.Data("the fit overflowed: scale your features (the largest value of X is %.4g in row %d, "+
		"column %d) or raise alpha", value, row, feature)
}

// largestValue is the value farthest from zero, with its row and the problem's number of its feature.
func largestValue(s *Sample) (value float64, row int, feature int32) {
	for i := range s.Rows.Rows() {
		s.Rows.Row(i, func(col int, v float64) {
			if math.Abs(v) > math.Abs(value) {
				value, row, feature = v, i, s.Feature[col]
			}
		})
	}
	return value * s.Length, row, feature
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
