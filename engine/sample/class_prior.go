package sample

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
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

// CheckShares refuses shares that are none of all classes.
func (p *ClassPrior) CheckShares(names fault.Names) error {
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
