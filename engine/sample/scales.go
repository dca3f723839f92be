package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

const (
	scaleRows     = 1024 // unlabeled rows that are looked at
	fewestRows    = 20   // with fewer a spread is uncertain
	mostlyFilled  = 0.5  // share of non-zero values above which features are compared instead of rows
	unequalRows   = 0.25 // coefficient of variation of the row lengths
	unequalColumn = 30   // largest standard deviation of a feature over the median one
	fewFeatures   = 10   // of which the share of the variance is looked at,
	manyFeatures  = 200  // where there are so many
	dominantShare = 0.2  // of the variance
)

// ScaleWarnings are of rows or features of such different scale that a transductive fit is likely to suffer. A part of
// the rows has none: they are those of the whole.
//
//	Problem  sparse rows: do fewFeatures of at least manyFeatures features have more than dominantShare of the sum of
//	         the variances? If not, is the standard deviation of |x_j| above unequalRows times its mean? Dense rows: is
//	         the largest standard deviation of a feature above unequalColumn times the median one?
//	Symbols  x_j unlabeled rows, at most scaleRows of them, evenly spaced; empty rows and constant features are left out
//	Source   measured with the true class shares and ten labels a class, rows divided by their root mean square length.
//	         Lengths: counts, log counts, 0/1 and tf-idf of 15 text sets, 55 cases, vary by 0.22 to 3.4, and unit rows
//	         gain 5 points of accuracy on average (lose 9 at most, gain 22 at most; 52 cases gain); MNIST varies by 0.18
//	         and gains 0.4 at most. Features: wine, breast cancer and planted classes where one informative feature is
//	         30 or 100 times as wide have ratios of 40 to 7,800 and gain 3 to 27 points by equal scales; principal
//	         components and singular vectors of MNIST, digits and 20 Newsgroups are below 15, and lose 1 to 51.
//	         Dominant features: tf-idf of 18 text sets and MNIST have shares of 0.01 to 0.09; with one-hot columns of
//	         length 1 or a standardized number beside the text 0.31 to 0.65, and accuracy falls by 17 to 72 points;
//	         with the same columns at a fifth of that length 0.01 to 0.12
//	Misses   features whose scales are spread evenly over two orders of magnitude: their ratio is 5, they lose 9 points
//	Cost     part of a pass over the data
func (s *Sample) ScaleWarnings() []warning.Warning {
	if s.depth > 0 {
		return nil
	}
	step := (len(s.Unlabeled) + scaleRows - 1) / scaleRows
	var rows []int32
	for k := 0; k < len(s.Unlabeled); k += max(1, step) {
		rows = append(rows, s.Unlabeled[k])
	}
	switch {
	case !s.Transductive() || s.Constant() || len(rows) < fewestRows:
		return nil
	case filled(s, rows) > mostlyFilled:
		return checkColumns(s, rows)
	}
	if found := checkDominance(s, rows); found != nil {
		return found // such columns also make lengths unequal, but unit rows are no cure
	}
	return checkLengths(s, rows)
}

// filled is the share of the values of some rows that are not zero, or a bound on it that is not above mostlyFilled.
func filled(s *Sample, rows []int32) float64 {
	values := float64(len(rows)) * float64(s.Features)
	if stored := float64(s.Rows.Subset(rows).NonZeros()) / values; stored <= mostlyFilled {
		return stored
	}
	count := 0
	for _, i := range rows {
		s.Rows.Row(int(i), func(_ int, value float64) {
			if value != 0 {
				count++
			}
		})
	}
	return float64(count) / values
}

func checkDominance(s *Sample, rows []int32) []warning.Warning {
	variances := variances(s, rows)
	total, share := vector.Sum(variances), 0.0
	if len(variances) < manyFeatures || total == 0 {
		return nil
	}
	first := vector.Largest(variances)
	for range fewFeatures {
		largest := vector.Largest(variances)
		share += variances[largest] / total
		variances[largest] = 0
	}
	if share > dominantShare {
		return []warning.Warning{warning.DominantFeatures.Of(float64(s.Feature[first]), share)}
	}
	return nil
}

// variances are those [features] of some sparse rows. A row can have several values of a feature, which are added.
func variances(s *Sample, rows []int32) []float64 {
	d := s.Rows.Cols()
	scratch, sum, squares := make([]float64, d), make([]float64, d), make([]float64, d)
	for _, i := range rows {
		s.Rows.Merged(int(i), scratch, func(col int, value float64) {
			sum[col] += value
			squares[col] += value * value
		})
	}
	n := float64(len(rows))
	for j := range squares {
		squares[j] = max(0, squares[j]/n-(sum[j]/n)*(sum[j]/n))
	}
	return squares
}

func checkLengths(s *Sample, rows []int32) []warning.Warning {
	scratch := make([]float64, s.Rows.Cols())
	var count, sum, squares float64
	for _, i := range rows {
		if square := s.Rows.SquaredNorm(int(i), scratch); square > 0 {
			count++
			sum += math.Sqrt(square)
			squares += square
		}
	}
	mean := sum / count
	if spread := math.Sqrt(squares/count-mean*mean) / mean; spread > unequalRows {
		return []warning.Warning{warning.RowLengths.Of(spread)}
	}
	return nil
}

func checkColumns(s *Sample, rows []int32) []warning.Warning {
	deviations := deviations(s, rows)
	widest := 0
	var varying []float64
	for j, deviation := range deviations {
		if deviation > deviations[widest] {
			widest = j
		}
		if deviation > 0 {
			varying = append(varying, deviation)
		}
	}
	if len(varying) == 0 {
		return nil
	}
	slices.Sort(varying)
	if median := varying[(len(varying)-1)/2]; deviations[widest] > unequalColumn*median {
		return []warning.Warning{warning.ColumnScales.Of(float64(s.Feature[widest]), deviations[widest], median)}
	}
	return nil
}

// deviations are the standard deviations [features] of some rows. Values are taken relative to those of the first row,
// so that a constant feature has exactly 0.
func deviations(s *Sample, rows []int32) []float64 {
	d := s.Rows.Cols()
	first, x, sum, squares := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	s.Rows.AddRow(int(rows[0]), 1, first)
	for _, i := range rows {
		clear(x)
		s.Rows.AddRow(int(i), 1, x)
		for j, value := range x {
			difference := value - first[j]
			sum[j] += difference
			squares[j] += difference * difference
		}
	}
	n := float64(len(rows))
	for j, mean := range sum {
		mean /= n
		x[j] = math.Sqrt(max(0, squares[j]/n-mean*mean))
	}
	return x
}
