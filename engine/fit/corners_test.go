package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// One step is no annealing, but soft labels are those of the supervised scores and not the class prior.
func TestSoftLabelsOfOneStep(t *testing.T) {
	data, o := planted.Topics(200, 30, 20, 0.4, 3), plainOptions()
	o.MaxIter = 1
	result := mustFit(t, data, nil, o)
	least, most := 1.0, 0.0
	for i, y := range data.Labels {
		if y < 0 {
			least, most = min(least, result.Distributions[2*i]), max(most, result.Distributions[2*i])
		}
	}
	if most-least < 0.1 {
		t.Errorf("soft labels from %v to %v", least, most)
	}
}

// Where unlabeled rows have no weight the history tells their share of class 1 all the same.
func TestHistoryOfASupervisedFit(t *testing.T) {
	data, o := planted.Topics(200, 30, 20, 0.4, 3), plainOptions()
	o.UnlabeledWeight = 0
	result := mustFit(t, data, nil, o)
	share, rows := 0.0, 0.0
	for i, y := range data.Labels {
		if y < 0 {
			share, rows = share+float64(result.Transduction[i]), rows+1
		}
	}
	if got := column(t, result, "positive_share")[0]; math.Abs(got-share/rows) > 1e-12 || got == 0 {
		t.Errorf("positive_share is %v, should be %v", got, share/rows)
	}
}

// Labels of one of two classes leave the methods of probabilities nothing to learn either.
func TestProbabilitiesOfOneClass(t *testing.T) {
	for _, by := range []method.Method{"posterior", "entropy", "expectation"} {
		data, o := planted.Topics(60, 24, 6, 0.4, 1), method.Defaults()
		o.Method, o.Loss = by, "maxent"
		for i, y := range data.Labels {
			if y == 1 {
				data.Labels[i] = -1
			}
		}
		if w := mustFit(t, data, nil, o).Model.Warnings; !strings.Contains(kinds(w), "one_class") {
			t.Errorf("%s: warnings %v", by, w)
		}
	}
}

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

func TestLabelsOfOneClassAmongThree(t *testing.T) {
	data, o := planted.Topics(60, 12, 10, 0.4, 3), plainOptions()
	for i, y := range data.Labels {
		if y >= 0 {
			data.Labels[i] = 2
		}
	}
	p := sample.Problem{Rows: data.Rows, Labels: data.Labels}
	if _, err := Fit(p, o, nil, nil); err == nil || !strings.Contains(err.Error(), "class 0 has no labeled row") {
		t.Errorf("error %v", err)
	}
	o.ClassPrior = sample.ClassPrior{Shares: []float64{0.2, 0.3, 0.5}}
	p.Start = &model.Linear{Classes: 3, Features: 3, Outputs: 3, Coef: make([]float64, 9), Intercept: make([]float64, 3)}
	if _, err := Fit(p, o, nil, nil); err == nil || !strings.Contains(err.Error(), "start has 3 features") {
		t.Errorf("error %v", err)
	}
}
