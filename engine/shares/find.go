package shares

import (
	"fmt"
	"slices"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// Prior is the class shares of the unlabeled rows and how they were found.
type Prior struct {
	Shares       []float64 // [K] φ
	ChosenLabels bool      // the labeled rows were probably not drawn at random
	Evidence     *Evidence // for estimated shares, otherwise nil
	Warnings     []warning.Warning
}

// Find finds the shares by the option class_prior, changed where weakly labeled rows do not allow them.
func Find(s *sample.Sample) (*Prior, error) {
	prior, err := find(s)
	if err == nil {
		prior.Shares, err = allowed(s, prior.Shares, s.Options.ClassPrior.Rule == "")
	}
	return prior, err
}

// find finds the shares by the option, or the label shares where no unlabeled row takes part.
func find(s *sample.Sample) (*Prior, error) {
	labels := crossfit.LabelShares(s, s.Job)
	switch {
	case s.Options.ClassPrior.Shares != nil:
		return given(s, labels)
	case s.All.Labeled == 0:
		return &Prior{Shares: likely(s)}, nil
	case s.Constant():
		return &Prior{Shares: labels, ChosenLabels: s.ChosenLabels}, nil
	}
	if err := checkLabels(s, labels); err != nil {
		return nil, err
	}
	if s.Options.ClassPrior.Rule == "labels" || !s.Transductive() {
		return &Prior{Shares: labels, ChosenLabels: s.ChosenLabels}, nil
	}
	if err := checkGathered(s); err != nil {
		return nil, err
	}
	evidence := Score(s, s.Job.Silent())
	shares, drawn := evidence.Shares(s.Job)
	if err := s.CheckFinite(0, shares); err != nil {
		return nil, err
	}
	return &Prior{Shares: shares, ChosenLabels: drawn < 0.5, Evidence: evidence}, nil
}

// given are the shares of the option.
func given(s *sample.Sample, labels []float64) (*Prior, error) {
	shares, prior := s.Options.ClassPrior.Shares, &s.Options.ClassPrior
	if len(shares) != s.Classes() {
		return nil, fault.Argument("class_prior has %d shares, but there are %d classes%s", len(shares), s.Classes(),
			s.Options.ClassNames.InBrackets())
	}
	if prior.Rule == "" { // estimated shares can be 0: see allowed
		if err := prior.CheckShares(s.Options.ClassNames); err != nil {
			return nil, err
		}
		shares = slices.Clone(shares)
		vector.Normalize(shares)
	}
	return &Prior{Shares: shares, ChosenLabels: s.ChosenLabels, Warnings: unknownClasses(s, labels)}, nil
}

// checkLabels refuses labels from which shares cannot be estimated.
func checkLabels(s *sample.Sample, labels []float64) error {
	names := s.Options.ClassNames
	counts := make([]int64, s.Classes())
	for _, y := range s.Class {
		counts[y]++
	}
	s.Job.ReduceCounts(counts)
	if class := slices.Index(counts, 0); class >= 0 {
		return fault.Data("class %s has no labeled row: label one, or give class_prior with its share%s", names.Of(class),
			names.Note())
	}
	for class, share := range labels {
		if !(share > 0 && share < 1) {
			return fault.Data("weights: the labeled rows of class %s have a share of %.3g of the labeled weight, which "+
				"cannot be the class prior: make the weights less unequal, or give class_prior", names.Of(class), share)
		}
	}
	return nil
}

// unknownClasses warns of every class that only class_prior has, unless the labels have one class only, which is a use
// of its own; labels are the label shares.
func unknownClasses(s *sample.Sample, labels []float64) (warnings []warning.Warning) {
	if s.OneClass() || s.All.Labeled == 0 {
		return nil
	}
	for class, share := range labels {
		if share == 0 {
			warnings = append(warnings, warning.NoLabel.Of(float64(class)))
		}
	}
	return warnings
}

// checkGathered refuses an estimate from more rows than each machine of a group can hold.
func checkGathered(s *sample.Sample) error {
	if s.Job.Group == nil {
		return nil
	}
	nonZeros := s.Job.Count(s.Rows.Subset(s.Labeled).NonZeros()) + sample.CrossFitted
	purpose := fmt.Sprintf("class_prior \"auto\" with %d labeled rows, which every machine gets,", s.All.Labeled)
	return memory.Need(bytesGathered*float64(nonZeros), purpose, "give the share of each class, or \"labels\"")
}

const bytesGathered = 16 + 2*12 // a non-zero: as it is sent, and as it is packed, twice
