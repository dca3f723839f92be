package sample

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// ClassPrior says which shares the classes have among the unlabeled rows: Shares [classes], or where they are nil the
// rule by which they are found. Shares with a rule are its result, shares without one were given.
type ClassPrior struct {
	Shares []float64
	Rule   string
}

// PriorRules are "auto", the shares that package shares finds, and "labels", the shares of the labeled rows.
var PriorRules = []string{"auto", "labels"}

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

// CheckRule refuses an unknown rule.
func (p *ClassPrior) CheckRule() error {
	if p.Shares == nil && !slices.Contains(PriorRules, p.Rule) {
		return fault.Argument("class_prior is %q: it must be one of %s, or an array with the share of each class", p.Rule,
			strings.Join(PriorRules, ", "))
	}
	return nil
}

// checkShares refuses shares that are none of all classes.
func (p *ClassPrior) checkShares(names fault.Names) error {
	total := 0.0
	for class, share := range p.Shares {
		if !(share > 0 && share < 1) {
			return fault.Argument("class_prior of class %s is %v: it must lie between 0 and 1", names.Of(class), share)
		}
		total += share
	}
	if math.Abs(total-1) > 1e-6 {
		return fault.Argument("class_prior sums to %v: it must sum to 1", total)
	}
	return nil
}

// Prior is what was found of the classes among the unlabeled rows.
type Prior struct {
	Shares   []float64        // [K] φ
	Picked   bool             // the labeled rows were probably not drawn at random
	Evidence *shares.Evidence // from which the shares were found; nil: they were not
	Warnings []warning.Warning
}

// Prior finds the shares by the option, and makes them ones that the prior costs allow.
func (s *Sample) Prior(classes int) (*Prior, error) {
	prior, err := s.prior(classes)
	if err == nil {
		prior.Shares, err = s.allowed(prior.Shares, s.Options.ClassPrior.Rule == "")
	}
	return prior, err
}

// prior finds the shares by the option; where no unlabeled row takes part they are the shares of the labeled rows.
func (s *Sample) prior(classes int) (*Prior, error) {
	found := s.ForShares(classes)
	labels := found.LabelShares(s.Job)
	if given := s.Options.ClassPrior.Shares; given != nil {
		if len(given) != classes {
			return nil, fault.Argument("class_prior has %d entries: %d are needed, one a class", len(given), classes)
		}
		if s.Options.ClassPrior.Rule == "" { // shares that were found can be 0: see allowed
			if err := s.Options.ClassPrior.checkShares(s.Options.ClassNames); err != nil {
				return nil, err
			}
		}
		return &Prior{Shares: given, Picked: s.picked, Warnings: s.unknownClasses(labels)}, nil
	}
	if s.All.Labeled == 0 {
		return &Prior{Shares: s.likelyShares()}, nil
	}
	if s.Constant() && (s.PriorCosts == nil || !s.Transductive()) {
		return &Prior{Shares: labels, Picked: s.picked}, nil
	}
	if class := slices.Index(s.labeledOf(classes), 0); class >= 0 {
		return nil, fault.Data("class %s has no labeled row: label one, or give class_prior with its share%s",
			s.Options.ClassNames.Of(class), s.Options.ClassNames.Note())
	}
	for class, share := range labels {
		if !(share > 0 && share < 1) {
			return nil, fault.Data("weights: the labeled rows of class %s have a share of %.3g of the labeled weight, which "+
				"cannot be the class prior: make the weights less unequal, or give class_prior",
				s.Options.ClassNames.Of(class), share)
		}
	}
	if s.Options.ClassPrior.Rule == "labels" || !s.Transductive() {
		return &Prior{Shares: labels, Picked: s.picked}, nil
	}
	if err := s.checkGathered(); err != nil {
		return nil, err
	}
	evidence := shares.Gather(s.Job.Silent(), found, true, crossfit.SampleRows)
	shares, drawn := evidence.Shares(s.Job)
	if err := s.CheckFinite(0, shares); err != nil {
		return nil, err
	}
	return &Prior{Shares: shares, Picked: drawn < 0.5, Evidence: evidence, Warnings: weak(s.Job, evidence, shares)}, nil
}

// weak warns where labels leave the shares open, and names the class whose share is the least certain.
func weak(job *work.Job, evidence *shares.Evidence, found []float64) []warning.Warning {
	lower, upper := evidence.Interval(job, found, shares.Usual)
	widest, together := 0, 0.0
	for y := range found {
		together += upper[y] - lower[y]
		if upper[y]-lower[y] > upper[widest]-lower[widest] {
			widest = y
		}
	}
	if together <= wide {
		return nil
	}
	l := vector.Sum(evidence.Totals)
	narrower := 100 * (1 - math.Sqrt(l/(l+5*float64(len(found)))))
	return []warning.Warning{
		warning.WeakPrior.Of(float64(widest), found[widest], lower[widest], upper[widest], narrower)}
}

// wide is a length of all intervals together. Of 252 fits of 21 sets 167 are warned of; they stay .073 of macro F
// behind fits with the true shares on average, the others .035. Of the 21 that fall .01 behind the supervised fit 16
// are among them; of a bound of .4 on the longest interval, 77 and 7 (nine classes have none so long).
const wide = 0.8

// unknownClasses warns of every class that only class_prior has; labels are the shares of the labeled rows. Where one
// class alone has labels that is what is meant.
func (s *Sample) unknownClasses(labels []float64) (warnings []warning.Warning) {
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

// checkGathered refuses shares that are to be found from more rows than each machine of a group can hold.
func (s *Sample) checkGathered() error {
	if s.Job.Group == nil {
		return nil
	}
	nonZeros := s.Job.Count(s.Rows.Subset(s.Labeled).NonZeros()) + crossfit.MostNonZeros
	purpose := fmt.Sprintf("class_prior \"auto\" with %d labeled rows, which every machine gets,", s.All.Labeled)
	return need(bytesGathered*float64(nonZeros), purpose, "give the share of each class, or \"labels\"")
}

const bytesGathered = 16 + 2*12 // a non-zero: as it is sent, and as it is packed, twice

// labeledOf counts the labeled rows of each class.
func (s *Sample) labeledOf(classes int) []int64 {
	counts := make([]int64, classes)
	for _, y := range s.Class {
		counts[y]++
	}
	s.Job.ReduceCounts(counts)
	return counts
}

// ForShares are the rows as package shares takes them.
func (s *Sample) ForShares(classes int) crossfit.Sample {
	return crossfit.Sample{Rows: s.Rows, Number: s.Feature, Labeled: s.Labeled, Class: s.Class,
		LabeledWeight: s.LabeledRows, Unlabeled: s.Unlabeled, UnlabeledWeight: s.UnlabeledRows, Classes: classes,
		Copies:    s.Copies != nil,
		Intercept: s.Options.FitIntercept}
}
