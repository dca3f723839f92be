package sample

import (
	"fmt"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

const (
	scaleRows     = 1024 // unlabeled rows that are looked at
	minRows       = 20   // with fewer a variance is uncertain
	topFeatures   = 10
	minFeatures   = 200
	dominantShare = 0.2  // of the variance, by the topFeatures
	frequentRows  = 0.2  // of the rows: frequent words are in more
	frequentShare = 0.05 // of the squared length, by frequent words
	mostFrequent  = 0.2  // of the features; pixels have more
	longFeatures  = 3    // columns that hide the others
	longShare     = 0.9  // of the squared length of a row, and of the rows that have such a column
	longTimes     = 20   // a usual value of the median feature
)

// ScaleWarnings is at most one warning: a fit hardly sees most columns of a table, or, of sparse rows of at least
// minFeatures features, is likely to separate them by something else than the classes if it is transductive.
//
//	Problem  do topFeatures have more than dominantShare of the sum of the variances? Else, do at most longFeatures have
//	         more than longShare of the squared length of the mean row? Those of components of a kernel or a matrix are
//	         less. Else, do features of more than frequentRows of the rows have more than frequentShare of it?
//	Source   ours; measured: docs/notes/scales.md
//	Cost     part of a pass over the data
func (s *Sample) ScaleWarnings() []warning.Warning {
	use := usesOf(s)
	if use.rows < minRows || s.Constant() {
		return nil
	}
	words := !s.Rows.Dense() && s.Transductive() && s.Rows.Cols() >= minFeatures
	if first, share := use.dominant(); words && share > dominantShare {
		return []warning.Warning{warning.DominantFeatures.Of(float64(s.Feature[first]), share)}
	}
	if long, share := use.long(); share > longShare {
		found, others := warning.LongFeatures.Of(share, float64(s.Feature[long[0]])), ""
		for _, j := range long[1:] {
			others += fmt.Sprintf(" and feature %d", s.Feature[j])
		}
		return []warning.Warning{found.And(others)}
	}
	if first, share := use.frequent(); words && share > frequentShare {
		return []warning.Warning{warning.FrequentFeatures.Of(float64(s.Feature[first]), share)}
	}
	return nil
}

type uses struct {
	rows           float64
	with, negative []float64 // [features] rows with the feature, and with a value below 0
	sum, squares   []float64 // [features] of its values
	parts          []float64 // [features] sum of its parts of the squared lengths of the rows
}

func usesOf(s *Sample) uses {
	d, among := s.Rows.Cols(), s.Unlabeled
	if len(among) < minRows {
		among = s.Labeled
	}
	u := uses{0, make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)}
	step := max(1, (len(among)+scaleRows-1)/scaleRows)
	for k := 0; k < len(among); k += step {
		u.rows++
		length := 0.0
		s.Rows.Row(int(among[k]), func(_ int, value float64) { length += value * value })
		s.Rows.Row(int(among[k]), func(col int, value float64) {
			if value*value == 0 { // or too small to be seen
				return
			}
			u.with[col]++
			if value < 0 {
				u.negative[col]++
			}
			u.sum[col] += value
			u.squares[col] += value * value
			u.parts[col] += value * value / length
		})
	}
	return u
}

// dominant is the feature of the largest variance, and the share of the topFeatures in the sum of the variances.
func (u uses) dominant() (first int, share float64) {
	variances := make([]float64, len(u.sum))
	for j, sum := range u.sum {
		variances[j] = max(0, u.squares[j]/u.rows-sum/u.rows*(sum/u.rows))
	}
	total := vector.Sum(variances)
	if total == 0 {
		return 0, 0
	}
	first = vector.Largest(variances)
	for range topFeatures {
		largest := vector.Largest(variances)
		share += variances[largest] / total
		variances[largest] = 0
	}
	return first, share
}

// long are the longest features, of those that nearly every row has and that are much longer than the median feature
// where this occurs, and their share of the squared length of the mean row.
func (u uses) long() (found []int, share float64) {
	var usual []float64 // mean squares of the values of each feature
	for j, with := range u.with {
		if with > 0 {
			usual = append(usual, u.squares[j]/with)
		}
	}
	if slices.Sort(usual); len(usual) == 0 {
		return nil, 0
	}
	least, parts := longTimes*longTimes*usual[(len(usual)-1)/2], slices.Clone(u.parts)
	for range min(longFeatures, len(parts)) {
		j := vector.Largest(parts)
		if u.with[j] < longShare*u.rows || u.squares[j] <= least*u.with[j] {
			break
		}
		found, share, parts[j] = append(found, j), share+parts[j]/u.rows, 0
	}
	return found, share
}

// frequent is the longest of the features that are as frequent as stop words, and the share of all of them in the
// squared length. Values of words have one sign, unlike those of an encoder.
func (u uses) frequent() (first int, share float64) {
	found, long := 0, make([]float64, len(u.with))
	for j, with := range u.with {
		if oneSign := u.negative[j] == 0 || u.negative[j] == with; with > frequentRows*u.rows && oneSign {
			found++
			long[j] = u.squares[j]
		}
	}
	total := vector.Sum(u.squares)
	if total == 0 || float64(found) > mostFrequent*float64(len(u.with)) {
		return 0, 0
	}
	return vector.Largest(long), vector.Sum(long) / total
}
