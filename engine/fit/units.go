package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// Hard labels go to units: the unlabeled rows, or the copies that their weights stand for.
//
//	Problem  labels that keep class counts go to k copies of a row one by one, so that copies can get different ones: at
//	         most one row a class does. A row of weight k gets the same labels, each with its part of the weight
//	Source   ours. Label for row instead, a fit with whole weights ended up to 3 times as high as that of the copies
//	         (switching, four planted classes), as exchanges of rows of unequal weight lose the class shares
//	Cost     of labels as with copies; of products nothing

// findUnits lists the units, where they are not the rows.
func findUnits(s *sample.Sample) (units []int32) {
	if s.Copies == nil {
		return nil
	}
	units = []int32{} // where there are no rows, too
	for k, weight := range s.UnlabeledRows {
		units = append(units, slices.Repeat([]int32{int32(k)}, int(weight))...)
	}
	return units
}

// perUnit gives each unit the label of its row [unlabeled].
func (t *task) perUnit(labels []int32) []int32 {
	if t.units == nil {
		return slices.Clone(labels)
	}
	out := make([]int32, len(t.units))
	for u, k := range t.units {
		out[u] = labels[k]
	}
	return out
}

// unitCosts are the costs [units, K] of the last measure.
func (t *task) unitCosts() []float64 {
	if t.units == nil {
		return t.costs
	}
	k := t.classes
	t.copied = slices.Grow(t.copied[:0], len(t.units)*k)
	for _, j := range t.units {
		t.copied = append(t.copied, t.costs[int(j)*k:(int(j)+1)*k]...)
	}
	return t.copied
}

// unitWeights are the weights [units].
func (t *task) unitWeights() []float64 {
	if t.units == nil {
		return t.UnlabeledWeight
	}
	return slices.Repeat([]float64{1 / float64(t.Job.Count(len(t.units)))}, len(t.units))
}

// label gives the unlabeled rows the labels of their units.
func (t *task) label(r *risk.Risk, labels []int32) {
	if t.units == nil {
		for k, i := range t.Unlabeled {
			r.Label[i] = labels[k]
		}
		return
	}
	r.Soft = make([]float64, len(t.Unlabeled)*t.classes)
	for u, k := range t.units {
		r.Soft[int(k)*t.classes+int(labels[u])] += 1 / t.UnlabeledRows[k]
		r.Label[t.Unlabeled[k]] = labels[u]
	}
	for u, k := range t.units {
		if i := t.Unlabeled[k]; r.Label[i] != labels[u] {
			r.Label[i], r.Place[i] = -1, k
		}
	}
}
