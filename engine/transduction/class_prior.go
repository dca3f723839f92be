package transduction

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/prior"
)

// ClassPrior says which shares the classes have among the unlabeled rows: Shares [classes], or where they are nil the
// rule by which they are found. Shares with a rule are its result, shares without one were given.
type ClassPrior struct {
	Shares []float64
	Rule   string
}

// priorRules are "auto", the shares that package prior finds, and "labels", those of the labeled rows.
var priorRules = []string{"auto", "labels"}

// UnmarshalJSON reads the name of a rule or an array of shares.
func (p *ClassPrior) UnmarshalJSON(text []byte) error {
	*p = ClassPrior{}
	if json.Unmarshal(text, &p.Rule) == nil {
		return nil
	}
	return json.Unmarshal(text, &p.Shares)
}

// MarshalJSON writes what UnmarshalJSON reads.
func (p ClassPrior) MarshalJSON() ([]byte, error) {
	if p.Shares != nil {
		return json.Marshal(p.Shares)
	}
	return json.Marshal(p.Rule)
}

func (p *ClassPrior) check() error {
	if p.Shares == nil {
		if !slices.Contains(priorRules, p.Rule) {
			return fault.Argument("class_prior is %q: it must be one of %s, or an array with the share of each class", p.Rule,
				strings.Join(priorRules, ", "))
		}
		return nil
	}
	total := 0.0
	for class, share := range p.Shares {
		if !(share > 0 && share < 1) {
			return fault.Argument("class_prior of class %d is %v: it must lie between 0 and 1", class, share)
		}
		total += share
	}
	if math.Abs(total-1) > 1e-6 {
		return fault.Argument("class_prior sums to %v: it must sum to 1", total)
	}
	return nil
}

// prior gives the share of each of so many classes among the unlabeled rows, found once.
func (s *sample) prior(classes int) (shares []float64, err error) {
	if s.shares == nil {
		before := len(s.warnings)
		s.shares, err = s.findPrior(classes)
		s.ofPrior = slices.Clone(s.warnings[before:])
	}
	return s.shares, err
}

// findPrior finds the shares as the option says; those of the labeled rows where no unlabeled row takes part.
func (s *sample) findPrior(classes int) ([]float64, error) {
	found := s.forShares(classes)
	labels := found.LabelShares()
	if given := s.options.ClassPrior.Shares; given != nil {
		if len(given) != classes {
			return nil, fault.Argument("class_prior has %d entries: %d are needed, one a class", len(given), classes)
		}
		s.warnOfUnknownClasses(labels)
		if err := s.options.ClassPrior.check(); err != nil {
			return nil, err
		}
		s.doubtPrior(found, given)
		return given, nil
	}
	for class, share := range labels {
		switch {
		case s.oneClass():
		case !slices.Contains(s.class, int32(class)):
			return nil, fault.Data("class %d has no labeled row: label one, or give class_prior with its share", class)
		case !(share > 0 && share < 1):
			return nil, fault.Data("weights: the labeled rows of class %d have a share of %v of the labeled weight, which "+
				"cannot be the class prior: make the weights less unequal, or give class_prior", class, share)
		}
	}
	if s.options.ClassPrior.Rule == "labels" || s.oneClass() || !s.transductive() {
		return labels, nil
	}
	s.evidence = prior.Gather(s.job.Aside(), found)
	shares, drawn := s.evidence.Shares(s.job)
	s.picked = drawn < 0.5
	return shares, nil
}

// doubtPrior warns where labeled and unlabeled rows together contradict shares that were given.
func (s *sample) doubtPrior(sample prior.Sample, given []float64) {
	if s.options.ClassPrior.Rule != "" || s.oneClass() || !s.transductive() || slices.Contains(sample.LabelShares(), 0) {
		return
	}
	found, doubted := prior.Gather(s.job.Aside(), sample).Doubt(s.job, given)
	if !doubted {
		return
	}
	most := 0
	for y := range found {
		if math.Abs(found[y]-given[y]) > math.Abs(found[most]-given[most]) {
			most = y
		}
	}
	s.warn("class_prior", "class_prior gives class %d a share of %.1f%%, but the labeled and the unlabeled rows together "+
		"suggest %.1f%%: check class_prior, or use \"auto\"", most, 100*given[most], 100*found[most])
}

// forShares are the rows as package prior takes them.
func (s *sample) forShares(classes int) prior.Sample {
	return prior.Sample{Rows: s.rows, Number: s.feature, Labeled: s.labeled, Class: s.class,
		LabeledWeight: s.labeledRows, Unlabeled: s.unlabeled, UnlabeledWeight: s.unlabeledWeight, Classes: classes,
		Intercept: s.options.FitIntercept}
}
