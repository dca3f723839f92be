package sample

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
)

// applyClassWeight makes the weights of the labeled rows; of equal factors nothing remains once they are normalized.
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
		if w := s.LabeledWeight[k]; !(w > leastWeight && w < mostRowWeight) {
			return fault.Argument("class_weight gives row %d the weight %v: make the weights less unequal", s.Labeled[k], w)
		}
	}
	return nil
}

// rowsPerLabel are the unlabeled rows for each labeled one from which on "auto" gives their averaged loss the weight 1:
// an unlabeled row, of which only a guess is known, never counts more than a twentieth of a labeled one. Measured with
// true class shares on k1b, wap, fbis and Ohsumed: with 1 to 12 unlabeled rows a label the weight 1 loses up to 8
// points of macro F against this, and with more than 30 smaller weights lose up to 7.
const rowsPerLabel = 20

// resolveWeight replaces "auto"; rows count by their weights.
func (s *Sample) resolveWeight() {
	if s.Options.UnlabeledWeight == option.AutoWeight {
		s.Options.UnlabeledWeight = min(1, s.total(s.UnlabeledWeight)/(rowsPerLabel*s.total(s.LabeledRows)))
	}
}
