package shares

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// likely are the class shares by weak labels alone: rows count by the excess of their likeliest class over chance.
func likely(s *sample.Sample) []float64 {
	shares := make([]float64, s.Classes())
	for k, weight := range s.UnlabeledRows {
		p := s.Weak.Of(k).Probabilities(len(shares))
		vector.Add(shares, weight*max(0, slices.Max(p)-1/float64(len(shares))), p)
	}
	s.Job.Reduce(shares)
	vector.Scale(shares, 1/vector.Sum(shares))
	return shares
}

// allowed changes shares that labels cannot keep, as weakly labeled rows cannot have some classes.
//
//	Problem  soft labels with these shares and the smallest weight on forbidden classes; the shares where rows move that
//	         weight to classes that they may have
//	Source   Hall 1935, for rows with weights: labels exist unless rows confined to a set of classes weigh more than its
//	         share
//	Stops    given shares that are off by the weight of a row or more are refused
//	Cost     three times soft labels
func allowed(s *sample.Sample, shares []float64, given bool) ([]float64, error) {
	if !s.All.Forbids || !s.Transductive() {
		return shares, nil
	}
	costs := make([]float64, len(s.Unlabeled)*len(shares))
	for k := range s.Unlabeled {
		row := s.Weak.Of(k)
		for y := range shares {
			if math.IsInf(row.Of(int32(y)), 1) {
				costs[k*len(shares)+y] = 1
			}
		}
	}
	soft, multipliers := make([]float64, len(costs)), make([]float64, len(shares))
	for _, temperature := range []float64{1, 0.1, coldest} {
		labeling.SoftLabels(s.Job, soft, costs, s.UnlabeledWeight, shares, multipliers, temperature, labeling.Exact)
	}
	kept, moved := keptShares(s, soft, costs)
	_, heaviest := s.Job.Range(0, slices.Max(append([]float64{0}, s.UnlabeledWeight...)))
	if given && moved >= heaviest*(1-1e-9) {
		names, most := s.Options.ClassNames, 0
		for y, share := range kept {
			if math.Abs(share-shares[y]) > math.Abs(kept[most]-shares[most]) {
				most = y
			}
		}
		return nil, fault.Data("class_prior gives class %s a share of %.4g, but some rows without a label cannot have some "+
			"classes: a share of %.4g is possible%s", names.Of(most), shares[most], kept[most], names.Note())
	}
	if moved < heaviest/2 {
		return shares, nil
	}
	return kept, nil
}

const coldest = 0.02 // temperature at which soft labels avoid forbidden classes wherever they can

// keptShares are the shares of soft labels whose weight on forbidden classes moves to the row's other classes, and that
// weight.
func keptShares(s *sample.Sample, soft, costs []float64) (shares []float64, moved float64) {
	classes := s.Classes()
	sums := make([]float64, classes+1)
	for k, weight := range s.UnlabeledWeight {
		row, cost := soft[k*classes:(k+1)*classes], costs[k*classes:(k+1)*classes]
		sums[classes] += weight * vector.Dot(row, cost)
		for y, c := range cost {
			row[y] *= 1 - c
		}
		total := vector.Sum(row)
		if total == 0 { // of classes whose share is 0
			row[slices.Index(cost, 0)], total = 1, 1
		}
		vector.Add(sums[:classes], weight/total, row)
	}
	s.Job.Reduce(sums)
	return sums[:classes], sums[classes]
}
