package fit

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// hidden is a problem whose labels hardly show which way the classes lie.
func hidden(seed uint64) (planted.Data, method.Options) {
	data, o := hiddenTopics(20000, 200000, 1000, 60, 0.11, seed), plainOptions()
	o.ClassPrior.Shares, o.Alpha = data.Shares(), 3e-4
	return data, o
}

func errorsOf(data planted.Data, r *Result) float64 {
	return float64(disagreement(data.Truth, r.Transduction)) / float64(len(data.Truth))
}

// A mixture finds classes that labels hardly show, on machines the same ones.
func TestAMixtureFindsClassesThatLabelsHardlyShow(t *testing.T) {
	withMixture(t, 10000)
	data, o := hidden(1)
	mixed, parts := fitFrom(t, data, nil, o), parted(data, 3)
	got, errs := fitTogether(t, worktest.NewRanks(3), sample.Problem{Rows: data.Rows, Labels: data.Labels}, o, parts)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	sameFit(t, "three machines", o, mixed, got, parts)
	withoutMixture(t)
	alone := fitFrom(t, data, nil, o)
	if wrong, missed := errorsOf(data, mixed), errorsOf(data, alone); wrong > 0.03 || missed < 0.1 ||
		mixed.Model.Objective > 0.95*alone.Model.Objective {
		t.Errorf("errors %v, without the mixture %v; objectives %v and %v", wrong, missed, mixed.Model.Objective,
			alone.Model.Objective)
	}
}

// across are rows in two tight groups that have nothing to do with the classes, which differ in another direction.
func across(t *testing.T, n, labeled int) planted.Data {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	data := planted.Data{Truth: make([]int32, n), Labels: make([]int32, n)}
	var values []float64
	for i := range n {
		data.Truth[i], data.Labels[i] = int32(i%2), -1
		if i < labeled {
			data.Labels[i] = data.Truth[i]
		}
		row := []float64{3 * float64(random.IntN(2)*2-1), 0.6 * float64(2*data.Truth[i]-1), 0, 0, 0, 0, 0, 0}
		for k := range row {
			row[k] += 0.25 * random.NormFloat64()
		}
		values = append(values, row...)
	}
	var err error
	if data.Rows, err = rows.NewDense(n, 8, 8, values); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAMixtureHasToPredictLabelsBetter(t *testing.T) {
	withMixture(t, 10000)
	hiddenRows, o := hidden(1)
	for _, c := range []struct {
		name string
		data planted.Data
		want bool
	}{{"hidden classes", hiddenRows, true}, {"groups across the classes", across(t, 1200, 40), false}} {
		x := settingOf(t, c.data, o)
		if got, err := x.mixturePredicts(); err != nil || got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Many classes, sparse rows and dense ones with negative values: the better of two starts ends no higher than the
// first.
func TestASecondStartEndsNoHigher(t *testing.T) {
	data := planted.Classes(1200, 150, 24, []float64{0.5, 0.3, 0.2}, 5)
	for name, rows := range map[string]*rows.Matrix{
		"sparse": data.Rows, "dense": planted.Dense(data.Rows), "spheres": data.Rows.Scaled(-1),
	} {
		o := plainOptions()
		o.ClassPrior.Shares = data.Shares()
		p := sample.Problem{Rows: rows, Labels: data.Labels}
		alone := mustFitProblem(t, p, o)
		withMixture(t, 500)
		mixed := mustFitProblem(t, p, o)
		manyUnlabeled = 1 << 15
		last, before := lastOf(t, mixed, "objective"), lastOf(t, alone, "objective")
		if last > before || passesOf(t, mixed) <= passesOf(t, alone) {
			t.Errorf("%s: objectives %v and %v, %v and %v passes", name, last, before, passesOf(t, mixed), passesOf(t, alone))
		}
	}
}

// lastOf is the last value of a column.
func lastOf(t *testing.T, r *Result, name string) float64 {
	t.Helper()
	values := column(t, r, name)
	return values[len(values)-1]
}
