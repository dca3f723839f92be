package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/vector"
)

func probableOptions(by string, prior []float64) method.Options {
	o := plainOptions()
	o.Method, o.Loss, o.Alpha, o.ClassPrior.Shares = method.Method(by), "maxent", 1e-3, prior
	return o
}

// Posterior with a small kl_weight is the supervised solution.
func TestPosteriorInTheLimit(t *testing.T) {
	data := fiveClasses(500, 4)
	fitWith := func(change func(o *method.Options)) *Result {
		o := probableOptions("posterior", fiveShares)
		o.Tol = 1e-8
		change(&o)
		return mustFit(t, data, nil, o)
	}
	supervised := fitWith(func(o *method.Options) { o.UnlabeledWeight = 0 })
	for k, w := range fitWith(func(o *method.Options) { o.KLWeight = 1e-6 }).Model.Coef {
		if want := supervised.Model.Coef[k]; math.Abs(w-want) > 1e-2 {
			t.Fatalf("weight %d is %v, should be %v", k, w, want)
		}
	}
}

func TestEntropyFindsTheClasses(t *testing.T) {
	data := fiveClasses(1500, 1)
	errors := map[string]float64{}
	for _, by := range []string{"entropy", "expectation", "posterior", "annealing"} {
		errors[by], _ = outcome(mustFit(t, data, nil, probableOptions(by, fiveShares)), data, fiveShares)
	}
	o := probableOptions("annealing", fiveShares)
	o.UnlabeledWeight = 0
	supervised, _ := outcome(mustFit(t, data, nil, o), data, fiveShares)
	if !(errors["entropy"] < supervised/2 && errors["expectation"] < supervised && errors["posterior"] < supervised) {
		t.Errorf("errors %v, supervised %v", errors, supervised)
	}
}

// Rows that are all alike cannot have unequal means without an intercept.
func TestAPriorThatTheRowsDoNotAllowIsAWarning(t *testing.T) {
	data := planted.Topics(40, 12, 10, 0.5, 2)
	data.Rows = planted.Sparse(40, 12, func(i int, add func(int, float64)) {
		for j, v := range data.Dense[i] {
			if v != 0 && data.Labels[i] >= 0 {
				add(j, v)
			}
		}
	})
	o := probableOptions("expectation", []float64{0.9, 0.1})
	o.FitIntercept = false
	result := mustFit(t, data, nil, o)
	w := result.Model.Warnings
	if reason := result.Model.Termination; reason != "constraint" || kinds(w) != "constraint" ||
		!strings.Contains(w[0].Text, "0.4 away from class_prior") {
		t.Errorf("%s: %v", reason, w)
	}
}

// Means of probabilities are the class prior; the objective is that of its definition, recomputed from dense rows, and
// the distributions are the softmax of the model's own scores.
func TestMeanProbabilitiesAreTheClassPrior(t *testing.T) {
	for _, by := range []string{"entropy", "expectation"} {
		for name, data := range map[string]planted.Data{
			"two":  planted.Topics(600, 120, 10, 0.3, 2),
			"five": fiveClasses(900, 3),
		} {
			prior := fiveShares
			if name == "two" {
				prior = []float64{0.7, 0.3}
			}
			f := &reference{data: data, o: probableOptions(by, prior)}
			result := mustFit(t, data, nil, f.o)
			means, n := make([]float64, len(prior)), 0.0
			for i, scores := range byRow(result, data) {
				if data.Labels[i] >= 0 {
					continue
				}
				n++
				p := softmaxOf(scores)
				vector.Add(means, 1, p)
				if got := result.Distributions[i*len(p) : (i+1)*len(p)]; distance(got, p) > 1e-9 {
					t.Fatalf("%s, %s classes: row %d has %v, by its scores %v", by, name, i, got, p)
				}
			}
			vector.Scale(means, 1/n)
			if residual := distance(means, prior); residual > 2*belief.Tolerance {
				t.Errorf("%s, %s classes: the means are %v away from the prior", by, name, residual)
			}
			if reason := result.Model.Termination; reason != "converged" || len(result.Model.Warnings) > 0 {
				t.Errorf("%s, %s classes: %s %v", by, name, reason, result.Model.Warnings)
			}
			want := f.at(weightsOf(result.Model), nil)
			if got := result.Model.Objective; by == "entropy" && math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s classes: objective %v, should be %v", name, got, want)
			}
		}
	}
}
