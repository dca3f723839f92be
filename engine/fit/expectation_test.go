package fit

import (
	"math"
	"slices"
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

// Methods that learn from probabilities have the one loss that gives them.
func TestTheUsualLossOfProbabilities(t *testing.T) {
	data := fiveClasses(300, 4)
	for _, by := range []string{"entropy", "expectation", "posterior"} {
		given, usual := probableOptions(by, fiveShares), probableOptions(by, fiveShares)
		usual.Loss = method.Defaults().Loss
		if !slices.Equal(mustFit(t, data, nil, given).Model.Coef, mustFit(t, data, nil, usual).Model.Coef) {
			t.Errorf("%s: the usual loss is not maxent", by)
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
			f.o.Balance = "labels"
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

// Probabilities of small scores have the class shares as their means while nearly all rows get the largest class: with
// 20 unlabeled rows a label the classes predicted have the shares, with fewer the intercepts are that part of the way
// there from those of the supervised classifier. Scores in the middle of a gap are found by sorting them.
func TestThresholdsOfProbabilities(t *testing.T) {
	for _, by := range []string{"posterior", "expectation", "entropy"} {
		for _, c := range []struct{ rows, labels, told float64 }{{810, 10, 1}, {50, 10, 0.2}} {
			data, o := planted.Topics(int(c.rows), 400, int(c.labels), 0.3, 5), probableOptions(by, []float64{0.7, 0.3})
			ends := func(change func(o *method.Options)) (coef []float64, intercept float64, result *Result) {
				own := o
				own.Tol = 1e-8
				change(&own)
				result = mustFit(t, data, nil, own)
				return result.Model.Coef, result.Model.Intercept[0], result
			}
			coef, own, before := ends(func(o *method.Options) { o.Balance = "labels" })
			_, supervised, _ := ends(func(o *method.Options) { o.UnlabeledWeight = 0 })
			moved, intercept, _ := ends(func(*method.Options) {})
			if distance(coef, moved) > 1e-12 {
				t.Errorf("%s, %v rows: weights move, too", by, c.rows)
			}
			var scores []float64
			for i, s := range byRow(before, data) {
				if data.Labels[i] < 0 {
					scores = append(scores, s[1]-s[0])
				}
			}
			slices.Sort(scores)
			first := len(scores) - int(math.Round(0.3*float64(len(scores))))
			target := own - (scores[first-1]+scores[first])/2
			if by == "entropy" {
				target = own
			}
			if want := c.told*target + (1-c.told)*supervised; math.Abs(intercept-want) > 1e-5 {
				t.Errorf("%s, %v rows: intercept %v, should be %v; before %v", by, c.rows, intercept, want, own)
			}
		}
	}
}
