package fit

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// fewCases are problems of two classes with enough rows to begin at a part of them.
func fewCases() map[string]func(seed uint64) (planted.Data, method.Options) {
	cases := map[string]func(seed uint64) (planted.Data, method.Options){}
	for _, by := range []method.Method{"annealing", "switching"} {
		for name, change := range map[string]func(o *method.Options){
			"shares given": func(*method.Options) {},
			"shares found": func(o *method.Options) { o.ClassPrior = sample.ClassPrior{Rule: "auto"} },
			"no intercept": func(o *method.Options) { o.FitIntercept = false },
		} {
			cases[name+", "+string(by)] = func(seed uint64) (planted.Data, method.Options) {
				d, o := planted.Topics(8000, 250, 20, 0.35, seed), plainOptions()
				o.Method, o.ClassPrior.Shares = by, d.Shares()
				change(&o)
				return d, o
			}
		}
	}
	cases["three classes, annealing"] = func(seed uint64) (planted.Data, method.Options) {
		d, o := planted.Classes(8000, 250, 30, []float64{0.5, 0.3, 0.2}, seed), plainOptions()
		o.Method = "annealing"
		return d, o
	}
	return cases
}

// A fit that begins at a part of its rows ends about as low as one that does not, with as many errors and after fewer
// passes; about as many rows have changed.
func TestManyRowsBeginAtFew(t *testing.T) {
	for name, draw := range fewCases() {
		const draws = 6
		higher, errors, passes, agreement := 0.0, 0.0, 0.0, 0.0
		for seed := range uint64(draws) {
			data, o := draw(seed)
			coarseFrom = 1 << 13
			withThird(t, 1<<20)
			whole := fitFrom(t, data, nil, o)
			withCoarseStart(t, 4000)
			begun := fitFrom(t, data, nil, o)
			higher += (begun.Model.Objective/whole.Model.Objective - 1) / draws
			wrong := disagreement(data.Truth, begun.Transduction) - disagreement(data.Truth, whole.Transduction)
			errors += float64(wrong) / float64(len(data.Truth)) / draws
			passes += passesOf(t, begun) / passesOf(t, whole) / draws
			agreement += (begun.Agreement - whole.Agreement) / draws
			if a, b := whole.Model.Termination, begun.Model.Termination; a != b && begun.Returned == whole.Returned {
				t.Errorf("%s: ends by %s, from few rows by %s", name, a, b)
			}
		}
		most := 0.55
		if strings.HasSuffix(name, "switching") {
			most = 1.1
		}
		if higher > 0.02 || errors > 0.005 || passes > most || math.Abs(agreement) > 0.02 {
			t.Errorf("%s: objective %.4f higher, %.4f more errors, %.2f of the passes, agreement %.3f more", name, higher, errors,
				passes, agreement)
		}
	}
}

// A part that max_iter ends is no start, and a caller who cancels is heard in the first.
func TestFewRowsKeepTheCallersLimits(t *testing.T) {
	withCoarseStart(t, 500)
	data := planted.Topics(8000, 250, 20, 0.35, 1)
	o := plainOptions()
	o.ClassPrior.Shares, o.MaxIter = data.Shares(), 3
	progress := &work.Progress{}
	found, err := Fit(sample.Problem{Rows: data.Rows, Labels: data.Labels}, o, progress, nil)
	if err != nil || found.Model.Termination != "max_iter" || found.Model.Iterations != 3 || progress.Step != 3 {
		t.Errorf("%v: ends by %s after %d steps, of all %d", err, found.Model.Termination, found.Model.Iterations, progress.Step)
	}
	progress = &work.Progress{Cancel: 1}
	_, err = Fit(sample.Problem{Rows: data.Rows, Labels: data.Labels}, o, progress, nil)
	if !errors.Is(err, fault.ErrCancelled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Where switching was better on few rows, the result is that of annealing which has chosen switching at its end: the
// labels are certain, and a weight is no temperature.
func TestFewRowsMayChooseSwitching(t *testing.T) {
	withCoarseStart(t, 900)
	data, o := planted.Topics(1000, 250, 10, 0.1, 6), plainOptions()
	o.Method, o.ClassPrior.Shares, o.Alpha = "auto", data.Shares(), 1e-3
	result := fitFrom(t, data, nil, o)
	if result.Returned != "switching" || result.Model.Method != "auto" {
		t.Fatalf("%s was asked for, and %s returned", result.Model.Method, result.Returned)
	}
	want := make([]float64, len(result.Distributions))
	for i, y := range result.Transduction {
		want[2*i+int(y)] = 1
	}
	if len(want) != 2*len(data.Labels) || !slices.Equal(result.Distributions, want) {
		t.Errorf("%d distributions of %d rows, which are not all certain", len(want)/2, len(data.Labels))
	}
	for _, column := range result.History {
		if column.Name == "temperature" && slices.Max(column.Values) > 0 {
			t.Errorf("temperatures %v", column.Values)
		}
	}
}

// Fits of 4,000 rows begin at a third of them, or at a part of two classes, where the loss and the regularization suit
// that and there are labels enough; a committee needs fewer. They end in fewer passes, with about as many errors. A
// part that has not ended is no start, and one with most of the rows, as many labeled ones, saves no time.
func TestWhatBeginsAtAPart(t *testing.T) {
	few, tail := []float64{0.6, 0.2, 0.1, 0.1}, []float64{0.44, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08}
	even := slices.Repeat([]float64{0.1}, 10)
	for _, c := range []struct {
		by      string // method and loss
		alpha   float64
		labeled int
		shares  []float64
		maxIter int
		begins  bool
	}{
		{"annealing squared_hinge", 1e-3, 80, few, 1000, false}, {"annealing maxent", 1e-4, 80, few, 1000, false},
		{"committee squared_hinge", 1e-3, 40, few, 1000, true}, {"committee squared_hinge", 1e-3, 36, few, 1000, false},
		{"committee squared_hinge", 1e-3, 40, tail, 1000, true}, {"committee squared_hinge", 1e-3, 30, even, 1000, false},
		{"committee squared_hinge", 1e-3, 40, few, 3, false}, {"annealing squared_hinge", 1e-3, 20, few[:2], 1000, true},
		{"annealing squared_hinge", 1e-5, 20, few[:2], 1000, false},
		{"switching squared_hinge", 1e-5, 20, few[:2], 1000, false},
		{"switching squared_hinge 5", 1e-3, 20, few[:2], 1000, false},
	} {
		var by, loss string
		data, o := planted.Classes(4000, 250, c.labeled, c.shares, 2), method.Defaults()
		fmt.Sscan(c.by, &by, &loss, &o.MaxSwitches)
		if o.Loss, o.Alpha, o.MaxIter = method.Loss(loss), c.alpha, c.maxIter; by != "committee" {
			o.Method, o.ClassPrior.Shares = method.Method(by), data.Shares()
		}
		var fits [2]*Result
		var passes, wrong [2]float64
		for k, rows := range []int{1 << 20, 2000} {
			if withThird(t, rows); len(c.shares) == 2 {
				withCoarseStart(t, rows)
			}
			fits[k] = mustFit(t, data, nil, o)
			for _, stage := range fits[k].Trained {
				passes[k] += stage.Passes
			}
			wrong[k] = float64(mistakes(fits[k], data))
		}
		switch same := slices.Equal(fits[0].Model.Coef, fits[1].Model.Coef); {
		case !c.begins && !(same && fits[0].Model.Iterations == fits[1].Model.Iterations):
			t.Errorf("%v: other weights, %d and %d steps", c, fits[0].Model.Iterations, fits[1].Model.Iterations)
		case c.begins && (same || passes[1] > 0.85*passes[0]):
			t.Errorf("%v: %v passes", c, passes)
		case wrong[1] > wrong[0]+0.01*float64(len(data.Labels)) || c.maxIter == 3 && fits[1].Model.Termination != "max_iter":
			t.Errorf("%v: %v mistakes, ended by %s", c, wrong, fits[1].Model.Termination)
		}
	}
}

// Few rows choose the method and the start of the whole fit, which leaves its sample as it was: the next fit is the
// same.
func TestAFitLeavesItsSampleAsItWas(t *testing.T) {
	data, o := planted.Topics(9000, 250, 16, 0.35, 1), plainOptions()
	o.ClassPrior.Shares = []float64{0.5, 0.5}
	d := settingOf(t, data, o)
	s := d.sample
	before := *s
	first, err := learn(d)
	if err != nil {
		t.Fatal(err)
	}
	if first.trace.Steps() > 8 {
		t.Fatal("no part of the rows was fitted")
	}
	second, err := learn(d)
	if err != nil || !slices.Equal(first.Model.Coef, second.Model.Coef) || !reflect.DeepEqual(before, *s) {
		t.Errorf("another model or sample (%v)", err)
	}
	want := o.OfSample()
	want.ClassWeight.Rule = "none" // what "auto" is with given shares
	if !reflect.DeepEqual(s.Options, want) || !slices.Equal(s.Options.ClassPrior.Shares, []float64{0.5, 0.5}) {
		t.Errorf("options %v", s.Options)
	}
}
