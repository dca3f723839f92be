package fit

import (
	"errors"
	"testing"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

// withoutMixture leaves fits without the start at a mixture.
func withoutMixture(t *testing.T) {
	before := mixtureRows
	mixtureRows = 0
	t.Cleanup(func() { mixtureRows = before })
}

// withMixture lets fits of this number of unlabeled rows and more be compared with a start at a mixture.
func withMixture(t *testing.T, rows int) {
	before := mixtureFrom
	mixtureFrom = rows
	t.Cleanup(func() { mixtureFrom = before })
}

// hidden is a problem whose labels hardly show which way the classes lie.
func hidden(seed uint64) (planted.Data, method.Options) {
	data, o := planted.Hidden(20000, 200000, 1000, 60, 0.11, seed), plainOptions()
	o.ClassPrior.Shares, o.Alpha = trueShares(data), 3e-4
	return data, o
}

func errorsOf(data planted.Data, r *Result) float64 {
	return float64(differences(data.Truth, r.Transduction)) / float64(len(data.Truth))
}

func TestAMixtureFindsClassesThatLabelsHardlyShow(t *testing.T) {
	withMixture(t, 10000)
	for seed := range uint64(2) {
		data, o := hidden(seed)
		mixed := fitFrom(t, data, nil, o)
		withoutMixture(t)
		alone := fitFrom(t, data, nil, o)
		mixtureRows = 1 << 17
		wrong, before := errorsOf(data, mixed), errorsOf(data, alone)
		if wrong > 0.03 || before < 0.1 || mixed.Model.Objective > 0.95*alone.Model.Objective {
			t.Errorf("errors %v, without the mixture %v; objectives %v and %v", wrong, before,
				mixed.Model.Objective, alone.Model.Objective)
		}
	}
}

func TestMachinesFindTheSameMixture(t *testing.T) {
	withMixture(t, 10000)
	data, o := hidden(1)
	o.ClassPrior.Shares = []float64{0.5, 0.5}
	p := sample.Problem{Rows: data.Rows, Labels: data.Labels}
	want, parts := fitAlone(t, p, o), parted(data, 3)
	got, errs := fitTogether(t, worktest.NewRanks(3), p, o, parts)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	sameFit(t, "hidden classes", o, want, got, parts)
	if wrong := errorsOf(data, want); wrong > 0.03 {
		t.Errorf("errors %v", wrong)
	}
}

// Many classes, sparse rows and dense ones with negative values: the better of two starts ends no higher than the first.
func TestASecondStartEndsNoHigher(t *testing.T) {
	data := planted.Classes(1200, 150, 24, []float64{0.5, 0.3, 0.2}, 5)
	for name, rows := range map[string]*rows.Matrix{
		"sparse": data.Rows, "dense": denseRows(t, data.Rows), "spheres": data.Rows.Scaled(-1),
	} {
		o := plainOptions()
		o.ClassPrior.Shares = trueShares(data)
		p := sample.Problem{Rows: rows, Labels: data.Labels}
		alone := fitAlone(t, p, o)
		withMixture(t, 500)
		mixed := fitAlone(t, p, o)
		mixtureFrom = 1 << 15
		last, before := lastOf(mixed.History, "objective"), lastOf(alone.History, "objective")
		if last > before || passesOf(mixed) <= passesOf(alone) {
			t.Errorf("%s: objectives %v and %v, %v and %v passes", name, last, before, passesOf(mixed), passesOf(alone))
		}
	}
}
