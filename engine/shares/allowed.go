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
//	Source   Hall 1935, for rows with weights: labels exist unless rows confined to a set A of classes weigh more than
//	         its share. The multipliers of the soft labels separate A from the other classes
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
	kept := keptShares(s, soft, costs)
	_, heaviest := s.Job.Range(0, slices.Max(append([]float64{0}, s.UnlabeledWeight...)))
	if kept[len(shares)] < heaviest/2 {
		return shares, nil
	}
	if given {
		if err := checkAllowed(s, costs, multipliers, shares, heaviest); err != nil {
			return nil, err
		}
	}
	return kept[:len(shares)], nil
}

const coldest = 0.02 // temperature at which soft labels avoid forbidden classes wherever they can

// keptShares are the shares of soft labels whose weight on forbidden classes moves to the row's other classes; then
// comes that weight.
func keptShares(s *sample.Sample, soft, costs []float64) []float64 {
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
	return sums
}

// checkAllowed refuses shares that the rows contradict. Costs are 1 for forbidden classes; the classes with the smaller
// multipliers have too small a share.
func checkAllowed(s *sample.Sample, costs, multipliers, shares []float64, heaviest float64) error {
	classes := len(shares)
	middle := (slices.Min(multipliers) + slices.Max(multipliers)) / 2
	confined := []float64{0}
	for k, weight := range s.UnlabeledWeight {
		outside := 0.0
		for y, c := range costs[k*classes : (k+1)*classes] {
			if multipliers[y] >= middle {
				outside += 1 - c
			}
		}
		if outside == 0 {
			confined[0] += weight
		}
	}
	s.Job.Reduce(confined)
	var in, out []int
	due := 0.0
	for y, v := range multipliers {
		if v < middle {
			in, due = append(in, y), due+shares[y]
		} else {
			out = append(out, y)
		}
	}
	return contradiction(s.Options.ClassNames, in, out, due, confined[0], heaviest, s.Total(s.UnlabeledRows))
}

// contradiction is the error where the classes in have smaller shares, together due, than the rows confined to them, by
// a row or more, stated for the smaller set: these classes or the others. confined and heaviest are parts of all rows.
func contradiction(names fault.Names, in, out []int, due, confined, heaviest, all float64) error {
	if confined-due < heaviest*(1-1e-9) {
		return nil
	}
	if 1-confined < 1e-9 { // but for rounding
		confined = 1
	}
	if len(in) <= len(out) {
		return fault.Data("class_prior gives %.6g of %.6g rows without a label to class %s, but %.6g of these rows can have "+
			"no other class: a share of at least %.6g is needed%s", due*all, all, names.List(in), confined*all, confined,
			names.Note())
	}
	return fault.Data("class_prior needs %.6g of %.6g rows without a label for class %s, but only %.6g of these rows may "+
		"have it: a share of at most %.6g is possible%s", (1-due)*all, all, names.List(out), (1-confined)*all, 1-confined,
		names.Note())
}
