package sample

import (
	"strings"
	"testing"
)

func TestSharesThatAreNoneAreRefused(t *testing.T) {
	for want, shares := range map[string][]float64{
		"class_prior sums to 1.1":                                    {0.5, 0.6},
		"class_prior of class 0 is 1.5: it must lie between 0 and 1": {1.5, -0.5},
	} {
		p := ClassPrior{Shares: shares}
		if err := p.CheckShares(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
