package fit

import (
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

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
