package belief

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// units have hard labels: the unlabeled rows, or the copies that their weights stand for.
//
//	Problem  the k copies of a row are labeled separately; at most one row per class ends with mixed labels. A row of
//	         weight k gets the same labels, each with its part of the weight
//	Source   ours. With one label a row, a fit with whole weights ended up to 3 times as high as the fit of the copies
//	         (switching, four planted classes), as exchanges of rows of unequal weight lose the class shares
//	Cost     labels take as long as with copies; products do not
type units struct {
	sample  *sample.Sample
	classes int
	rows    []int32   // [units] place in Unlabeled of each; nil: every row is one
	costs   []float64 // [units, K]
}

func newUnits(s *sample.Sample, classes int) units {
	u := units{sample: s, classes: classes}
	if s.Copies == nil {
		return u
	}
	u.rows = []int32{} // not nil
	for k, weight := range s.UnlabeledRows {
		u.rows = append(u.rows, slices.Repeat([]int32{int32(k)}, int(weight))...)
	}
	return u
}

func (u *units) count() int {
	if u.rows == nil {
		return len(u.sample.Unlabeled)
	}
	return len(u.rows)
}

// labelsOf are the labels of the units' rows, for labels [unlabeled].
func (u *units) labelsOf(labels []int32) []int32 {
	if u.rows == nil {
		return slices.Clone(labels)
	}
	out := make([]int32, len(u.rows))
	for k, row := range u.rows {
		out[k] = labels[row]
	}
	return out
}

// rowOf is the row of a unit, and the part of its weight that the unit has.
func (u *units) rowOf(k int) (row int, part float64) {
	if u.rows == nil {
		return k, 1
	}
	return int(u.rows[k]), 1 / u.sample.UnlabeledRows[u.rows[k]]
}

// costsOf are the costs [units, K] of the units' rows.
func (u *units) costsOf(costs []float64) []float64 {
	if u.rows == nil {
		return costs
	}
	k := u.classes
	u.costs = slices.Grow(u.costs[:0], len(u.rows)*k)
	for _, j := range u.rows {
		u.costs = append(u.costs, costs[int(j)*k:(int(j)+1)*k]...)
	}
	return u.costs
}

func (u *units) weights(job *work.Job) []float64 {
	if u.rows == nil {
		return u.sample.UnlabeledWeight
	}
	return slices.Repeat([]float64{1 / float64(job.Count(len(u.rows)))}, len(u.rows))
}

// label puts the labels of units into a risk; rows with mixed labels become soft.
func (u *units) label(r *risk.Risk, labels []int32) {
	s := u.sample
	if u.rows == nil {
		for k, i := range s.Unlabeled {
			r.Label[i] = labels[k]
		}
		return
	}
	r.SoftLabels = make([]float64, len(s.Unlabeled)*u.classes)
	for k, row := range u.rows {
		r.SoftLabels[int(row)*u.classes+int(labels[k])] += 1 / s.UnlabeledRows[row]
		r.Label[s.Unlabeled[row]] = labels[k]
	}
	for k, row := range u.rows {
		if i := s.Unlabeled[row]; r.Label[i] != labels[k] {
			r.Label[i], r.Place[i] = -1, row
		}
	}
}
