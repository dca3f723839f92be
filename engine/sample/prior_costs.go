package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Prior costs are what is known of a row without a label before its features are seen.
//
//	Problem  the loss of unlabeled row j, whose labels q_jy keep the class shares, is Σ_y q_jy (ξ(s_j, y) + PriorStrength
//	         κ_jy): κ = 0 for an unlabeled row; κ_jy = +Inf where it cannot have class y; κ_jy = -log π_jy where class y
//	         has probability π_jy. What is known counts as labels besides, see fit/known.go
//	Symbols  κ prior costs [unlabeled, K], the least one of a row 0
//	Source   ours; Keerthi, Sundararajan & Shevade 2012 for labels under class counts, of which only the costs change
//	Measured on k1b and wap, two draws each, 5 labels a class, macro F of TransductiveSVC. Strength of probabilities of
//	         keyword rules (right in 43 to 69 %): 0.05: 0.734, 0.25: 0.707, 1: 0.64
//	Limits   a row with one class left is a labeled row; a row whose costs are equal is an unlabeled one, bit for bit
//
// PriorStrength of κ beside losses, which are no logarithms of probabilities: neighbouring rows overrule a probability
// more easily than κ itself says. Labels that harden on the way follow a wrong probability for good otherwise.
const PriorStrength = 0.1

// mostPriorCost bounds costs that are finite: -log of the smallest number is 745.
const mostPriorCost = 1e6

// priorOf reads the prior costs of a row: the costs beyond the least one, and the class if only one is left, else -1;
// nil costs are those of an unlabeled row.
func priorOf(i int, given []float64) (costs []float64, class int32, err error) {
	least, allowed, class := math.Inf(1), 0, int32(-1)
	for y, c := range given {
		if !(c >= 0 && (c <= mostPriorCost || math.IsInf(c, 1))) {
			return nil, -1, fault.Data("costs of row %d has %v for class %d: a prior cost is 0 to %g, or infinite where the "+
				"row cannot have the class", i, c, y, mostPriorCost)
		}
		if !math.IsInf(c, 1) {
			least, allowed, class = min(least, c), allowed+1, int32(y)
		}
	}
	switch {
	case allowed == 0:
		return nil, -1, fault.Data("costs of row %d are infinite for every class: the row can have none", i)
	case allowed == 1:
		return nil, class, nil
	case slices.Max(given) == least:
		return nil, -1, nil
	}
	costs = slices.Clone(given)
	for y := range costs {
		costs[y] -= least
	}
	return costs, -1, nil
}

// checkCosts refuses prior costs of another shape than that of rows and classes.
func (p Problem) checkCosts() error {
	switch {
	case p.Costs == nil:
		return nil
	case p.Classes < 2:
		return fault.Argument("n_classes is %d: prior costs are those of 2 or more classes", p.Classes)
	case len(p.Costs) != p.Classes*p.Rows.Rows():
		return fault.Argument("costs has %d entries, but there are %d rows and %d classes", len(p.Costs), p.Rows.Rows(),
			p.Classes)
	}
	return nil
}

// costsOf are the given prior costs [Classes] of a row.
func (p Problem) costsOf(i int) []float64 { return p.Costs[i*p.Classes : (i+1)*p.Classes] }

// PriorOf are the prior costs [K] of an unlabeled row, or nil.
func (s *Sample) PriorOf(k int) []float64 {
	if s.PriorCosts == nil {
		return nil
	}
	return s.PriorCosts[k*s.classes : (k+1)*s.classes]
}

// Weak reports whether something is known of an unlabeled row.
func (s *Sample) Weak(k int) bool {
	return slices.ContainsFunc(s.PriorOf(k), func(c float64) bool { return c > 0 })
}

// allowed changes shares, where prior costs forbid classes, into ones that labels can keep.
//
//	Problem  soft labels with these shares that have the least weight where they are forbidden; the shares that remain
//	         where rows give that weight to classes that they may have
//	Source   Hall 1935, for rows with weights: there are labels unless rows that can only have classes of some set A
//	         weigh more than its share. The multipliers of the labels part the classes in two, A and the others: a row
//	         moves between classes of one part for nothing, and into A at the cost of 1
//	Stops    given shares that are off by the weight of a row or more are refused
//	Cost     some soft labels
func (s *Sample) allowed(shares []float64, given bool) ([]float64, error) {
	if !s.Forbids || !s.Transductive() {
		return shares, nil
	}
	costs := make([]float64, len(s.PriorCosts))
	for k, c := range s.PriorCosts {
		if math.IsInf(c, 1) {
			costs[k] = 1
		}
	}
	soft, multipliers := make([]float64, len(costs)), make([]float64, len(shares))
	for _, temperature := range []float64{1, 0.1, leastTrade} {
		labeling.Soft(s.Job, soft, costs, s.UnlabeledWeight, shares, temperature, multipliers, labeling.Exact)
	}
	kept := s.kept(soft, costs)
	_, heaviest := s.Job.Range(0, slices.Max(append([]float64{0}, s.UnlabeledWeight...)))
	if kept[len(shares)] < heaviest/2 {
		return shares, nil
	}
	if given {
		if err := s.checkAllowed(costs, multipliers, shares, heaviest); err != nil {
			return nil, err
		}
	}
	return kept[:len(shares)], nil
}

// leastTrade is a temperature at which soft labels are forbidden ones only where there is no other way.
const leastTrade = 0.02

// kept are the shares of soft labels whose weight on forbidden classes, which follows them, moves to the others of the
// row.
func (s *Sample) kept(soft, costs []float64) []float64 {
	classes := s.classes
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

// checkAllowed refuses shares that the rows contradict; costs are 1 where a row cannot have a class, and the classes
// with the smaller multipliers have too little.
func (s *Sample) checkAllowed(costs, multipliers, shares []float64, heaviest float64) error {
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
	within := make([]bool, classes)
	for y, v := range multipliers {
		within[y] = v < middle
	}
	return contradiction(s.Options.ClassNames, within, shares, confined[0], heaviest, s.total(s.UnlabeledRows))
}

// contradiction is the error of shares below what the rows that can only have some classes need, by a row or more. It
// is stated for the smaller of two sets: these classes, or the others; confined and heaviest are parts of all rows.
func contradiction(names fault.Names, within []bool, shares []float64, confined, heaviest, all float64) error {
	var in, out []int
	due := 0.0
	for y, is := range within {
		if is {
			in, due = append(in, y), due+shares[y]
		} else {
			out = append(out, y)
		}
	}
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
