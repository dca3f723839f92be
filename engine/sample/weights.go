package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/vector"
)

const maxCopies = 4 // a row on average: hard labels are found copy by copy

// findCopies keeps weights that are numbers of copies: whole, unequal, not too large. Equal ones are the same as none.
func (s *Sample) findCopies(p Problem) {
	weights := p.Weights
	if p.Copies {
		s.Copies = weights
		return
	}
	if weights == nil && s.Job.Group != nil { // other machines may have some
		weights = slices.Repeat([]float64{1}, s.Rows.Rows())
	}
	broken, rows, total, smallest, largest := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for _, w := range weights {
		switch {
		case w != math.Trunc(w):
			broken++
		case w > 0:
			rows, total, smallest, largest = rows+1, total+w, min(smallest, w), max(largest, w)
		}
	}
	sums := []float64{broken, rows, total}
	s.Job.Reduce(sums)
	smallest, largest = s.Job.Range(smallest, largest)
	if sums[0] == 0 && smallest < largest && sums[2] <= maxCopies*sums[1] {
		s.Copies = weights
	}
}

// Units is the number of the unlabeled rows, or of the copies that their weights stand for.
func (s *Sample) Units() int {
	if s.Copies == nil {
		return len(s.Unlabeled)
	}
	return int(vector.Sum(s.UnlabeledRows))
}

// applyClassWeight makes the weights of the labeled rows, which are normalized later.
func (s *Sample) applyClassWeight() error {
	factors := s.Options.ClassWeight
	if classes := s.Classes(); factors != nil && len(factors) != classes {
		return fault.Argument("class_weight has %d entries: %d are needed, one a class", len(factors), classes)
	}
	s.LabeledWeight = slices.Clone(s.LabeledRows)
	for k, class := range s.Class {
		if factors != nil {
			s.LabeledWeight[k] *= factors[class]
		}
		if w := s.LabeledWeight[k]; !(w > minWeight && w < maxWeight) {
			return fault.Argument("class_weight gives row %d the weight %v: make the weights less unequal", s.Labeled[k], w)
		}
	}
	return nil
}

// resolveWeight replaces "auto"; rows count by their weights.
func (s *Sample) resolveWeight() {
	if s.Options.UnlabeledWeight == option.AutoWeight {
		s.Options.UnlabeledWeight = option.WeightOf(s.Total(s.UnlabeledWeight), s.Total(s.LabeledRows))
	}
}
