package fit

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
)

func fitFrom(t *testing.T, data planted.Data, start *model.Linear, o method.Options) *Result {
	t.Helper()
	result, err := Fit(sample.Problem{Rows: data.Rows, Labels: data.Labels, Start: start}, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func passesOf(t *testing.T, r *Result) float64 { return lastOf(t, r, "n_passes") }

// After labels were added, a fit from the model before them ends near where one from nothing ends, sooner. Local minima
// of hard labels differ by some percent from draw to draw, so that means over draws are compared.
func TestStartAfterMoreLabels(t *testing.T) {
	bounds := map[string]struct{ worse, passes float64 }{
		"annealing": {0.01, 0.4}, "switching": {0, 0.6}, "gradient": {math.Inf(1), 1},
	}
	for by, most := range bounds {
		for classes, draw := range map[int]func(seed uint64) planted.Data{
			2: func(seed uint64) planted.Data { return planted.Topics(1200, 250, 30, 0.35, seed) },
			5: func(seed uint64) planted.Data { return planted.Classes(1200, 250, 40, fiveShares, seed) },
		} {
			const draws = 3
			worse, passes := 0.0, 0.0
			for seed := range uint64(draws) {
				data, o := draw(seed), plainOptions()
				o.Method, o.ClassPrior.Shares = method.Method(by), data.Shares()
				before := fitFrom(t, data, nil, o)
				again := fitFrom(t, data, before.Model, o)
				if rise := again.Model.Objective/before.Model.Objective - 1; by == "gradient" &&
					(rise > o.Tol || passesOf(t, again) > 0.1*passesOf(t, before)) {
					t.Errorf("%d classes: %v passes from where a fit of %v ended, to %v above its objective", classes,
						passesOf(t, again), passesOf(t, before), rise)
				}
				for i := len(data.Labels) - 20; i < len(data.Labels); i++ {
					data.Labels[i] = data.Truth[i]
				}
				fresh, warm := fitFrom(t, data, nil, o), fitFrom(t, data, before.Model, o)
				worse += (warm.Model.Objective/fresh.Model.Objective - 1) / draws
				passes += passesOf(t, warm) / passesOf(t, fresh) / draws
				if n := mistakes(warm, data); n > len(data.Truth)/10 && by == "gradient" { // another local minimum is near
					t.Errorf("%d classes: %d mistakes with more labels", classes, n)
				}
				if end := warm.Model.Termination; end == "not_converged" || end == "unsettled" || end == "max_iter" {
					t.Errorf("%s, %d classes: ended with %s", by, classes, end)
				}
			}
			if worse > most.worse || passes > most.passes {
				t.Errorf("%s, %d classes: objective %.4f above that from nothing, passes %.2f of those", by, classes, worse, passes)
			}
		}
	}
}
