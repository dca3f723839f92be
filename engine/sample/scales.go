package sample

import (
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
)

// ScaleWarnings is at most one warning of sparse rows of at least minFeatures features: a transductive fit is likely to
// separate them by something else than the classes.
//
//	Problem  do topFeatures have more than dominantShare of the sum of the variances? If not, do features of more than
//	         frequentRows of the rows have more than frequentShare of the squared length?
//	Source   ours; measured: docs/notes/scales.md
//	Cost     part of a pass over the data
func (s *Sample) ScaleWarnings() []warning.Warning {
	if s.Rows.Dense() || !s.Transductive() || s.Constant() || s.Rows.Cols() < minFeatures {
		return nil
	}
	use := usesOf(s)
	if use.rows < minRows {
		return nil
	}
	if first, share := use.dominant(); share > dominantShare {
		return []warning.Warning{warning.DominantFeatures.Of(float64(s.Feature[first]), share)}
	}
	if first, share := use.frequent(); share > frequentShare {
		return []warning.Warning{warning.FrequentFeatures.Of(float64(s.Feature[first]), share)}
	}
	return nil
}

type uses struct {
	rows           float64
	with, negative []float64 // [features] rows with the feature, and with a value below 0
	sum, squares   []float64 // [features] of its values
}

func usesOf(s *Sample) uses {
	d := s.Rows.Cols()
	u := uses{0, make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)}
	step := max(1, (len(s.Unlabeled)+scaleRows-1)/scaleRows)
	for k := 0; k < len(s.Unlabeled); k += step {
		u.rows++
		s.Rows.Row(int(s.Unlabeled[k]), func(col int, value float64) {
			u.with[col]++
			if value < 0 {
				u.negative[col]++
			}
			u.sum[col] += value
			u.squares[col] += value * value
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
