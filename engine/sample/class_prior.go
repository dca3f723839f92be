package sample

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// ClassPrior is the option of the class shares among the unlabeled rows: Shares [classes], or if they are nil the rule
// to find them. Shares with a rule are its result, shares without one are given by the caller.
type ClassPrior struct {
	Shares []float64
	Rule   string
}

// PriorRules are "auto", the shares that package shares finds, and "labels", the shares of the labeled rows.
var PriorRules = []string{"auto", "labels"}

func (p *ClassPrior) UnmarshalJSON(text []byte) error {
	*p = ClassPrior{}
	if json.Unmarshal(text, &p.Rule) == nil {
		return nil
	}
	return json.Unmarshal(text, &p.Shares)
}

func (p ClassPrior) MarshalJSON() ([]byte, error) {
	if p.Shares != nil {
		return json.Marshal(p.Shares)
	}
	return json.Marshal(p.Rule)
}

func (p *ClassPrior) CheckRule() error {
	if p.Shares == nil && !slices.Contains(PriorRules, p.Rule) {
		return fault.Argument("class_prior is %q: it must be one of %s, or an array with the share of each class", p.Rule,
			strings.Join(PriorRules, ", "))
	}
	return nil
}

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
