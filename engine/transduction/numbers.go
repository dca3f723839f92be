package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/minimize"
)

// hugeValue is where products of weights leave the range of numbers, or come so near that no solve converges.
const hugeValue = 1e50

// checkNumbers refuses a result that is not finite.
func (s *sample) checkNumbers(objective float64, results ...[]float64) error {
	finite := isFinite(objective)
	for _, list := range results {
		for _, v := range list {
			finite = finite && isFinite(v)
		}
	}
	if finite {
		return nil
	}
	value, row, feature := s.largestValue()
	return fault.Data("the fit left the range of numbers: scale your features (the largest value of X is %.4g in row %d, "+
		"column %d) or raise alpha", value, row, feature)
}

// largestValue is the value farthest from zero, with its row and the problem's number of its feature.
func (s *sample) largestValue() (value float64, row int, feature int32) {
	for i := range s.rows.Rows() {
		s.rows.Row(i, func(col int, v float64) {
			if math.Abs(v) > math.Abs(value) {
				value, row, feature = v, i, s.feature[col]
			}
		})
	}
	return value * s.length, row, feature
}

// finite says that a solve has not left the range of numbers: nothing that follows could bring it back.
func finite(o minimize.Outcome) bool { return isFinite(o.Gap) }

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
