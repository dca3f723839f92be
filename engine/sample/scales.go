package sample

import (
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

const (
	scaleRows     = 1024 // unlabeled rows for the variances
	minRows       = 20   // with fewer a variance is uncertain
	topFeatures   = 10
	minFeatures   = 200
	dominantShare = 0.2 // of the variance, by the topFeatures
)

// ScaleWarnings are the warnings of sparse rows in which few features have most of the variance: a transductive fit is
// likely to separate the rows by these. A part of the rows has none.
//
//	Problem  do topFeatures of at least minFeatures features have more than dominantShare of the sum of the variances?
//	Source   ours; measured with true class shares and ten labels a class: docs/notes/scales.md
//	Cost     part of a pass over the data
func (s *Sample) ScaleWarnings() []warning.Warning {
	if s.depth > 0 || s.Rows.Dense() || !s.Transductive() || s.Constant() {
		return nil
	}
	step := (len(s.Unlabeled) + scaleRows - 1) / scaleRows
	var rows []int32
	for k := 0; k < len(s.Unlabeled); k += max(1, step) {
		rows = append(rows, s.Unlabeled[k])
	}
	if len(rows) < minRows {
		return nil
	}
	variances := variances(s, rows)
	total, share := vector.Sum(variances), 0.0
	if len(variances) < minFeatures || total == 0 {
		return nil
	}
	first := vector.Largest(variances)
	for range topFeatures {
		largest := vector.Largest(variances)
		share += variances[largest] / total
		variances[largest] = 0
	}
	if share > dominantShare {
		return []warning.Warning{warning.DominantFeatures.Of(float64(s.Feature[first]), share)}
	}
	return nil
}

// variances are the variances [features] of sparse rows.
func variances(s *Sample, rows []int32) []float64 {
	d := s.Rows.Cols()
	sum, squares := make([]float64, d), make([]float64, d)
	for _, i := range rows {
		s.Rows.Row(int(i), func(col int, value float64) {
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
