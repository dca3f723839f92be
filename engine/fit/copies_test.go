package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// copiesCases are all ways to fit, with few labels and with many, with shares that are given and that are found.
func copiesCases() map[string]func() (planted.Data, method.Options) {
	cases := scaleCases()
	for _, by := range []string{"annealing", "switching"} {
		with := func(data planted.Data, change func(o *method.Options)) func() (planted.Data, method.Options) {
			return func() (planted.Data, method.Options) {
				o := method.Defaults()
				o.Method = method.Method(by)
				change(&o)
				return data, o
			}
		}
		two, four := planted.Topics(300, 60, 24, 0.4, 3), planted.Classes(300, 90, 24, []float64{0.4, 0.3, 0.2, 0.1}, 5)
		none := func(*method.Options) {}
		cases["two, shares found, "+by], cases["four, shares found, "+by] = with(two, none), with(four, none)
		limited := func(o *method.Options) { o.MaxSwitches, o.Method = 3, "switching" }
		cases["two, max_switches"], cases["four, max_switches"] = with(two, limited), with(four, limited)
	}
	return cases
}

// repeated are weights 0 to 3 for the rows, all classes labeled, and the data with the rows as often.
func repeated(data planted.Data) (weights []float64, copies planted.Data) {
	var rows []int
	for i, y := range data.Labels {
		weight := (7*i + i/5) % 4
		if y >= 0 {
			weight = max(1, weight)
		}
		weights = append(weights, float64(weight))
		for range weight {
			rows = append(rows, i)
		}
	}
	return weights, choose(data, rows)
}

// The paths differ by rounding alone. A row whose copies have two classes lies on the threshold between them once that
// moves: rounding decides where it goes. It also decides between the many ways that the hinge of Crammer & Singer has.
func TestAWeightIsThatManyCopies(t *testing.T) {
	for name, draw := range copiesCases() {
		data, o := draw()
		if o.Loss == method.CrammerSinger {
			continue
		}
		o.Tol = 1e-8
		weights, copies := repeated(data)
		weighted, copied := mustFit(t, data, weights, o), mustFit(t, copies, nil, o)
		a, b := lastOf(weighted.History, "objective"), lastOf(copied.History, "objective")
		if !(math.Abs(a-b) <= 1e-6*b) {
			t.Errorf("%s: objective %v with weights, %v with copies: %.1e", name, a, b, a/b-1)
		}
		at, differ := 0, 0
		for i, weight := range weights {
			if weight > 0 && weighted.Transduction[i] != copied.Transduction[at] {
				differ++
			}
			at += int(weight)
		}
		if differ > 1 {
			t.Errorf("%s: %d rows have another class", name, differ)
		}
		if a, b = weighted.Model.Objective, copied.Model.Objective; differ == 0 && !(math.Abs(a-b) <= 1e-6*b) {
			t.Errorf("%s: objective %v with weights, %v with copies, at the end", name, a, b)
		}
	}
}

// With many classes of few rows annealing ends earlier, and so with copies.
func TestAWeightIsThatManyCopiesOfFewRowsAClass(t *testing.T) {
	for seed := range uint64(10) {
		data := planted.Classes(200, 60, 16, slices.Repeat([]float64{0.125}, 8), seed)
		o := method.Defaults()
		o.Method, o.Tol = "annealing", 1e-8
		weights, copies := repeated(data)
		shares := make([]float64, 8)
		for i, y := range data.Labels {
			if y < 0 {
				shares[data.Truth[i]] += weights[i]
			}
		}
		o.ClassPrior.Shares = shares
		vector.Scale(shares, 1/vector.Sum(shares))
		weighted, copied := mustFit(t, data, weights, o).Model, mustFit(t, copies, nil, o).Model
		if weighted.Iterations != copied.Iterations {
			t.Errorf("seed %d: %d steps with weights, %d with copies", seed, weighted.Iterations, copied.Iterations)
		}
	}
}

func TestWeightsOfTheSupervisedProblemAreCopies(t *testing.T) {
	data := planted.Topics(400, 60, 30, 0.3, 1)
	weights, copies := repeated(data)
	o := plainOptions()
	o.UnlabeledWeight, o.Tol = 0, 1e-12
	weighted, copied := mustFit(t, data, weights, o).Model, mustFit(t, copies, nil, o).Model
	for j, w := range weighted.Coef {
		if math.Abs(w-copied.Coef[j]) > 1e-6 {
			t.Errorf("coef[%d] is %v with weights, %v with copies", j, w, copied.Coef[j])
		}
	}
}
