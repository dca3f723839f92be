package fit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Labels of one class and the shares of two are enough for every method, also with a tree.
func TestSharesAndLabelsOfOneClass(t *testing.T) {
	for _, by := range []string{
		"auto", "annealing", "switching", "pair_switching", "gradient", "entropy", "expectation", "posterior",
		"annealing/maxent", "annealing/tree",
	} {
		data, o := planted.Topics(120, 24, 40, 0.6, 1), method.Defaults()
		name, of, _ := strings.Cut(by, "/")
		o.Method, o.ClassPrior = method.Method(name), sample.ClassPrior{Shares: []float64{0.5, 0.5}}
		if method.Find(o.Method).UsesProbabilities || of == "maxent" {
			o.Loss = "maxent"
		}
		if of == "tree" {
			o.Hierarchy = []int{2, 2, -1}
		}
		for i, y := range data.Labels {
			if y == 1 {
				data.Labels[i] = -1
			}
		}
		result, right := mustFit(t, data, nil, o), 0
		for i, y := range result.Transduction {
			if y == data.Truth[i] {
				right++
			}
		}
		if right < 100 {
			t.Errorf("%s: %d of 120 rows right", by, right)
		}
	}
}

// Few unlabeled rows beside many labels leave the supervised classifier as it is, by every method, also with given
// shares, as all do where a class has no label.
func TestFewUnlabeledRowsChangeLittle(t *testing.T) {
	data := planted.Classes(2000, 120, 300, []float64{0.4, 0.3, 0.1, 0.1, 0.1}, 4)
	p := problemOf(data)
	var labeled, others []int32
	for i, y := range data.Labels {
		if y >= 0 {
			labeled = append(labeled, int32(i))
		} else {
			others = append(others, int32(i))
		}
	}
	wrong := func(p sample.Problem, o method.Options) (n int) {
		all := sample.Problem{Rows: problemOf(data).Rows}
		of := decisions{make([]float64, 2000*5), 5}
		if err := mustFitProblem(t, p, o).Model.Decisions(work.NewPool(1), all.Rows, of.values); err != nil {
			t.Fatal(err)
		}
		for _, i := range others {
			if vector.Largest(of.scores(i)) != int(data.Truth[i]) {
				n++
			}
		}
		return n
	}
	for _, by := range names(method.Defaults(), "method") {
		spec := method.Find(method.Method(by))
		o := method.Defaults()
		o.Method, o.Loss = spec.Name, spec.Losses[0]
		o.UnlabeledWeight = 0
		alone := wrong(p, o)
		o.UnlabeledWeight = option.AutoWeight
		for _, few := range []int{2, 10, 40} {
			for _, shares := range [][]float64{nil, data.Shares()} {
				o.ClassPrior = sample.ClassPrior{Shares: shares}
				if shares == nil {
					o.ClassPrior.Rule = "auto"
				}
				some := partOf(t, p, slices.Concat(labeled, others[:few]))
				if now := wrong(some, o); now > alone+len(others)/50 {
					t.Errorf("%s, %d rows, shares %v: %d mistakes, %d without them", by, few, shares, now, alone)
				}
			}
		}
	}
}

// Shares that name a class without a label hold, however few rows there are.
func TestFewRowsKeepSharesOfClassesWithoutALabel(t *testing.T) {
	data, o := planted.Topics(300, 24, 200, 0.6, 1), method.Defaults()
	o.ClassPrior.Shares = []float64{0.5, 0.5}
	rest := 0
	for i, y := range data.Labels {
		if data.Labels[i] = y; y == 1 {
			data.Labels[i] = -1
			rest++
		}
	}
	n := 0
	for i, y := range mustFit(t, data, nil, o).Transduction {
		if data.Labels[i] < 0 && y == 1 {
			n++
		}
	}
	if all := 100 + rest; math.Abs(float64(n)/float64(all)-0.5) > 0.01 {
		t.Errorf("%d of %d rows have the class without a label", n, all)
	}
}
