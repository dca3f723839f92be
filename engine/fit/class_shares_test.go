package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
)

func TestClassSharesAreThoseOfAFit(t *testing.T) {
	for classes := 2; classes <= 3; classes++ {
		data, _ := topics(classes, 30)
		weights := make([]float64, len(data.Labels))
		for i := range weights {
			weights[i] = float64(1 + i%4)
		}
		for _, intercept := range []bool{true, false} {
			o := method.Defaults()
			o.Method, o.FitIntercept, o.ClassWeight.Factors = "annealing", intercept, []float64{2, 1, 3}[:classes]
			want := mustFit(t, data, weights, o).Model.ClassPrior
			chosen := shares.Defaults()
			chosen.Times, chosen.FitIntercept = 10, intercept
			p := sample.Problem{Rows: data.Rows, Labels: data.Labels, Weights: weights}
			found, err := EstimateShares(p, chosen, true)
			if err != nil || !slices.Equal(found.Share, want) {
				t.Errorf("%v, %v; a fit has %v", found.Share, err, want)
			}
			for y, share := range found.Share {
				if !(0 <= found.Lower[y] && found.Lower[y] < share && share < found.Upper[y] && found.Upper[y] <= 1) {
					t.Errorf("%v from %v to %v", share, found.Lower[y], found.Upper[y])
				}
			}
			alone, err := EstimateShares(p, chosen, false)
			if err != nil || alone.Lower != nil || !slices.Equal(alone.Share, want) {
				t.Errorf("%+v, %v without an interval", alone, err)
			}
			p.Classes = classes + 1
			_, err = EstimateShares(p, chosen, true)
			wantKinds(t, err, fault.BadData)
		}
	}
}

// Where the shares are estimated and the labels look picked, thresholds move l / (l + 20) of the way that they move
// with balance "share", l labels of a class.
func TestThresholdsMoveAPartOfTheWayToEstimatedShares(t *testing.T) {
	for name, shares := range map[string][]float64{"two": {0.8, 0.2}, "four": {0.6, 0.2, 0.1, 0.1}} {
		data := planted.Classes(1200, 250, 16*len(shares), shares, 2)
		o, labeled := method.Defaults(), 0
		for _, y := range data.Labels {
			labeled += min(1, int(y)+1)
		}
		intercepts := func(balance string) []float64 {
			o.Method, o.Balance, o.Alpha = "annealing", balance, 0.03
			found, err := learn(dataOf(t, problemOf(data), o)) // before intercepts move for new rows
			if err != nil {
				t.Fatal(err)
			}
			return found.Model.Intercept
		}
		from, to, got := intercepts("labels"), intercepts("share"), intercepts("auto")
		l, far := float64(labeled)/float64(max(2, len(got))), 0.0
		for y := range got {
			far = max(far, math.Abs(to[y]-from[y]))
			if want := from[y] + l/(l+20)*(to[y]-from[y]); math.Abs(got[y]-want) > 1e-12 {
				t.Errorf("%s: intercept %v, should be %v, between %v and %v", name, got[y], want, from[y], to[y])
			}
		}
		if far < 0.01 {
			t.Errorf("%s: thresholds do not move", name)
		}
	}
}

func TestShareOptionsAreReadStrictly(t *testing.T) {
	for _, text := range []string{
		`{"alpha": 1}`, `{"n_bootstraps": 1}`, `{"n_bootstraps": 2.5}`, `{"n_bootstraps": 1e9}`, `{"confidence_level": 0}`,
		`{"confidence_level": 1}`, `{"threads": 0}`, `{"random_state": -1}`, `{"fit_intercept": 1}`, `{"threads": null}`, `[]`,
	} {
		o := shares.Defaults()
		wantKinds(t, o.Table().Decode([]byte(text)), fault.BadArgument)
	}
	o := shares.Defaults()
	err := o.Table().Decode([]byte(`{"n_bootstraps": 7, "confidence_level": 0.5, "random_state": 3, "threads": 2}`))
	if err != nil || o.Times != 7 || o.Level != 0.5 || o.Seed != 3 || o.Threads != 2 || !o.FitIntercept {
		t.Errorf("%+v, %v", o, err)
	}
}
