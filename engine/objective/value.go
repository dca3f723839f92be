package objective

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
)

// A Scorer puts the class scores of a row into dst [K].
type Scorer func(dst []float64, row int32)

// Value is the objective at these scores, each unlabeled row at its cheapest class, and the shares of the classes among
// the unlabeled rows, by their scores.
func (o *Objective) Value(l loss.Classes, regularizer float64, score Scorer) (value float64, shares []float64) {
	s, sums := o.Sample, make([]float64, 2+o.Classes) // labeled loss, unlabeled loss, shares
	o.Job.Total(len(s.Unlabeled), sums, func(lo, hi int, dst []float64) {
		scores, costs := make([]float64, o.Classes), make([]float64, o.Classes)
		for k := lo; k < hi; k++ {
			score(scores, s.Unlabeled[k])
			dst[2+vector.Largest(scores)] += s.UnlabeledWeight[k]
			if s.Transductive() {
				dst[1] += s.UnlabeledWeight[k] * o.unlabeled(l, scores, costs, s.Weak.Of(k))
			}
		}
	})
	sums[0] = o.LabeledLoss(l, score)
	o.Job.Reduce(sums)
	return regularizer + sums[0] + o.Weight*sums[1], sums[2:]
}

// unlabeled is the loss of an unlabeled row: at its cheapest class where the loss has no form for such rows, or the row
// is weakly labeled; scratch [K] is written.
func (o *Objective) unlabeled(l loss.Classes, scores, scratch []float64, label weak.Row) float64 {
	if o.OwnLoss && !label.Known() {
		return l.At(scores, nil, scratch, make([]float64, len(scratch)))
	}
	l.Costs(scratch, scores)
	label.AddTo(scratch, weak.Strength)
	return slices.Min(scratch)
}

// LabeledLoss is the part of the mean loss of all labeled rows that comes from this machine.
func (o *Objective) LabeledLoss(l loss.Classes, score Scorer) (total float64) {
	scores, costs := make([]float64, o.Classes), make([]float64, o.Classes)
	for k, i := range o.Sample.Labeled {
		score(scores, i)
		l.Costs(costs, scores)
		total += o.Sample.LabeledWeight[k] * costs[o.Sample.Class[k]]
	}
	return total
}

// LocalShares are the parts of the class shares by scores that come from the unlabeled rows of this machine.
func (o *Objective) LocalShares(score Scorer) []float64 {
	shares := make([]float64, o.Classes)
	o.Job.Total(len(o.Sample.Unlabeled), shares, func(lo, hi int, dst []float64) {
		scores := make([]float64, o.Classes)
		for k := lo; k < hi; k++ {
			score(scores, o.Sample.Unlabeled[k])
			dst[vector.Largest(scores)] += o.Sample.UnlabeledWeight[k]
		}
	})
	return shares
}

// Distance is the largest distance of a class's share from its prior.
func (o *Objective) Distance(shares []float64) float64 {
	distance := 0.0
	for y, share := range shares {
		distance = max(distance, math.Abs(share-o.Prior[y]))
	}
	return distance
}

// HistoryShare is the entry of the history: the share of class 1 of a pair, otherwise the distance from the prior.
func (o *Objective) HistoryShare(shares []float64) float64 {
	switch {
	case o.Sample.Paired():
		return shares[1]
	case o.Sample.Transductive():
		return o.Distance(shares)
	}
	return 0
}
