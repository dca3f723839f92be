package sample

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
)

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
