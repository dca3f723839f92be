package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// startCases are problems of two and of many classes, with the ways there are to solve them.
func startCases() map[string]func() (planted.Data, method.Options) {
	two := func() planted.Data { return planted.Topics(300, 60, 20, 0.4, 3) }
	four := func() planted.Data { return planted.Classes(300, 80, 40, []float64{0.4, 0.3, 0.2, 0.1}, 5) }
	wide := func() planted.Data { return planted.Classes(150, 300, 40, []float64{0.4, 0.3, 0.2, 0.1}, 5) }
	with := func(data func() planted.Data, change func(o *method.Options)) func() (planted.Data, method.Options) {
		return func() (planted.Data, method.Options) {
			d, o := data(), plainOptions()
			o.ClassPrior.Shares = d.Shares()
			change(&o)
			return d, o
		}
	}
	cases := map[string]func() (planted.Data, method.Options){
		"two, no intercept":  with(two, func(o *method.Options) { o.FitIntercept = false }),
		"four, no intercept": with(four, func(o *method.Options) { o.FitIntercept = false }),
		"four, maxent":       with(four, func(o *method.Options) { o.Loss = "maxent" }),
		"four, tree":         with(four, func(o *method.Options) { o.Hierarchy = []int{4, 4, 5, 5, -1, 4} }),
		"two, maxent":        with(two, func(o *method.Options) { o.Loss = "maxent" }),
		"two, pairs":         with(two, func(o *method.Options) { o.Method = "pair_switching" }),
		"two, pairs, hinge":  with(two, func(o *method.Options) { o.Method, o.Loss = "pair_switching", "hinge" }),
		"four, pairs":        with(four, func(o *method.Options) { o.Method = "pair_switching" }),
		"four, hinge":        with(four, func(o *method.Options) { o.Loss, o.Balance = "hinge", "labels" }),
		"four, wide":         with(wide, func(o *method.Options) {}),
		"four, wide, tree":   with(wide, func(o *method.Options) { o.Method, o.Hierarchy = "switching", []int{4, 4, 5, 5, -1, 4} }),
		"four, maxent, tree": with(four, func(o *method.Options) { o.Loss, o.Hierarchy = "maxent", []int{4, 4, 5, 5, -1, -1} }),
	}
	for _, by := range []string{"annealing", "switching"} {
		for _, balance := range []string{"mean", "share", "labels"} {
			change := func(o *method.Options) { o.Method, o.Balance = method.Method(by), balance }
			cases[fmt.Sprintf("two, %s, %s", by, balance)] = with(two, change)
			cases[fmt.Sprintf("four, %s, %s", by, balance)] = with(four, change)
		}
	}
	return cases
}

func fitFrom(t *testing.T, data planted.Data, start *model.Linear, o method.Options) *Result {
	t.Helper()
	result, err := Fit(sample.Problem{Rows: data.Rows, Labels: data.Labels, Start: start}, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func passesOf(r *Result) float64 {
	for _, column := range r.History {
		if column.Name == "n_passes" {
			return column.Values[len(column.Values)-1]
		}
	}
	return 0
}

// Without unlabeled rows the problem is convex: from its solution a fit ends where it begins, at once.
func TestStartAtTheOptimumEndsThere(t *testing.T) {
	for name, draw := range startCases() {
		data, o := draw()
		o.UnlabeledWeight = 0
		first := fitFrom(t, data, nil, o)
		second := fitFrom(t, data, first.Model, o)
		if n := second.Model.Iterations; n > 1 && o.Loss != method.Hinge { // which is smoothed coarsely first
			t.Errorf("%s: %d steps from the optimum", name, n)
		}
		if a, b := first.Model.Objective, second.Model.Objective; math.Abs(a-b) > 2*o.Tol*a {
			t.Errorf("%s: objective %v, from there %v", name, a, b)
		}
		const made = 3.0 // passes that make the rows ready
		if a, b := passesOf(first)-made, passesOf(second)-made; b > 0.7*a && o.Loss != method.Hinge {
			t.Errorf("%s: %.1f passes from nothing, %.1f from the optimum", name, a, b)
		}
		// F is strongly convex: |w - w*|² <= 2 (F - F*) / α for both
		distance, within := 0.0, 2*math.Sqrt(2*o.Tol*first.Model.Objective/o.Alpha)
		for j, w := range first.Model.Coef {
			distance += (w - second.Model.Coef[j]) * (w - second.Model.Coef[j])
		}
		if math.Sqrt(distance) > within {
			t.Errorf("%s: weights at a distance of %v, allowed %v", name, math.Sqrt(distance), within)
		}
	}
}

// From a far start the solution of a convex problem is the same as from nothing.
func TestAnyStartGivesTheSupervisedSolution(t *testing.T) {
	for name, draw := range startCases() {
		data, o := draw()
		o.UnlabeledWeight = 0
		first := fitFrom(t, data, nil, o)
		far := *first.Model
		far.Coef, far.Intercept = slices.Clone(far.Coef), slices.Clone(far.Intercept)
		for j := range far.Coef {
			far.Coef[j] = 3 * math.Sin(float64(j))
		}
		far.Intercept[0] = -7
		second := fitFrom(t, data, &far, o)
		if a, b := first.Model.Objective, second.Model.Objective; math.Abs(a-b) > 2*o.Tol*a {
			t.Errorf("%s: objective %v, from a far start %v", name, a, b)
		}
	}
}

// After labels were added, a fit from the model before them ends near where one from nothing ends, sooner. Local minima
// of hard labels differ by some percent from draw to draw, so that means over draws are compared.
func TestStartAfterMoreLabels(t *testing.T) {
	bounds := map[string]struct{ worse, passes float64 }{"annealing": {0.01, 0.4}, "switching": {0, 0.6}}
	for by, most := range bounds {
		for name, draw := range map[string]func(seed uint64) planted.Data{
			"two":  func(seed uint64) planted.Data { return planted.Topics(1200, 250, 30, 0.35, seed) },
			"five": func(seed uint64) planted.Data { return planted.Classes(1200, 250, 40, fiveShares, seed) },
		} {
			const draws = 3
			worse, passes := 0.0, 0.0
			for seed := range uint64(draws) {
				data, o := draw(seed), plainOptions()
				o.Method, o.ClassPrior.Shares = method.Method(by), data.Shares()
				length := data.Rows.RootMeanSquare(work.NewJob(1, nil), slices.Repeat([]float64{1}, data.Rows.Rows()))
				o.Alpha /= length * length
				before := fitFrom(t, data, nil, o)
				for i := len(data.Labels) - 20; i < len(data.Labels); i++ {
					data.Labels[i] = data.Truth[i]
				}
				fresh, warm := fitFrom(t, data, nil, o), fitFrom(t, data, before.Model, o)
				worse += (warm.Model.Objective/fresh.Model.Objective - 1) / draws
				passes += passesOf(warm) / passesOf(fresh) / draws
				if end := warm.Model.Termination; end == "not_converged" || end == "unsettled" || end == "max_iter" {
					t.Errorf("%s, %s: ended with %s", by, name, end)
				}
			}
			if worse > most.worse || passes > most.passes {
				t.Errorf("%s, %s: objective %.4f above that from nothing, passes %.2f of those", by, name, worse, passes)
			}
		}
	}
}

func TestStartOfAnotherShapeIsRefused(t *testing.T) {
	data := planted.Topics(100, 30, 10, 0.5, 1)
	good := fitFrom(t, data, nil, plainOptions()).Model
	for want, change := range map[string]func(m *model.Linear){
		"start has 29 features, but the rows have 30":         func(m *model.Linear) { m.Features = 29 },
		"start has 3 classes, but the labels and class_prior": func(m *model.Linear) { m.Classes, m.Outputs = 3, 3 },
		"start has weights up to 1e+60, which are too large":  func(m *model.Linear) { m.Intercept[0] = 1e60 },
	} {
		m := *good
		m.Coef, m.Intercept = slices.Clone(m.Coef), slices.Clone(m.Intercept)
		change(&m)
		_, err := Fit(sample.Problem{Rows: data.Rows, Labels: data.Labels, Start: &m}, plainOptions(), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
