package sample

import (
	"strings"
	"testing"
)

func TestAClassThatNoRowMayHaveIsToldWithoutRounding(t *testing.T) {
	err := contradiction(nil, []bool{true, true, false}, []float64{0.2, 0.2, 0.6}, 1-1e-14, 1./370, 370)
	if want := "only 0 of these rows may have it: a share of at most 0 is possible"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, not %q", err, want)
	}
}

func TestSharesThatAreNoneAreRefused(t *testing.T) {
	for want, shares := range map[string][]float64{
		"class_prior sums to 1.1":                                    {0.5, 0.6},
		"class_prior of class 0 is 1.5: it must lie between 0 and 1": {1.5, -0.5},
	} {
		p := ClassPrior{Shares: shares}
		if err := p.checkShares(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
