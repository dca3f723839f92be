package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

var fiveShares = []float64{0.4, 0.25, 0.15, 0.12, 0.08}

func fiveClasses(n int, seed uint64) planted.Data {
	return planted.Classes(n, 250, 10, fiveShares, seed)
}

// classSettings have every pair of a method, a loss and a balance that go with many classes.
func classSettings() map[string]method.Options {
	out := map[string]method.Options{}
	methods := []method.Method{"annealing", "switching"}
	for i, loss := range []method.Loss{"squared_hinge", "maxent", "crammer_singer"} {
		for j, balance := range []string{"auto", "share", "labels"} {
			o := plainOptions()
			o.Method, o.Loss, o.Balance, o.ClassPrior.Shares = methods[(i+j)%2], loss, balance, fiveShares
			out[fmt.Sprint(o.Method, " ", loss, " ", balance)] = o
		}
	}
	return out
}

// outcome gives the error on the unlabeled rows and the largest distance of a class's share from what was asked.
func outcome(result *Result, data planted.Data, prior []float64) (errors, off float64) {
	shares, n := make([]float64, len(prior)), 0.0
	for i, s := range byRow(result, data) {
		if data.Labels[i] >= 0 {
			continue
		}
		n++
		y := vector.Largest(s)
		shares[y]++
		if int32(y) != data.Truth[i] {
			errors++
		}
	}
	for y := range shares {
		off = max(off, math.Abs(shares[y]/n-prior[y]))
	}
	return errors / n, off
}

func TestManyClassesLearnFromUnlabeledRowsAndKeepTheirShares(t *testing.T) {
	data := fiveClasses(1000, 3)
	prior := make([]float64, 5)
	for i, y := range data.Truth {
		if data.Labels[i] < 0 {
			prior[y] += 1.0 / 990
		}
	}
	for name, o := range classSettings() {
		o.ClassPrior.Shares = prior
		plain := o
		plain.UnlabeledWeight = 0
		supervised, _ := outcome(mustFit(t, data, nil, plain), data, prior)
		result := mustFit(t, data, nil, o)
		wrong, off := outcome(result, data, prior)
		t.Logf("%s: error %.3f, supervised %.3f, share off by %.4f, %d steps, %s", name, wrong, supervised, off,
			result.Model.Iterations, result.Model.Termination)
		if wrong > supervised-0.1 {
			t.Errorf("%s: error %.3f, supervised %.3f", name, wrong, supervised)
		}
		if o.Balance != "labels" && off > 0.01 {
			t.Errorf("%s: a share is off by %.4f", name, off)
		}
		for i, s := range byRow(result, data) {
			if data.Labels[i] < 0 && result.Transduction[i] != int32(vector.Largest(s)) {
				t.Fatalf("%s: row %d is class %d by its scores, %d by the fit", name, i, vector.Largest(s), result.Transduction[i])
			}
		}
	}
}

// Two classes with a column each have the classifier of a pair; the objective is twice as large. With
// labeled rows that weigh more than all others together there is one solution to find; with few the two ways, which
// take other steps, can end in neighboring ones.
func TestTwoClassesAsManyAgreeWithTheTwoClassWay(t *testing.T) {
	for seed := range uint64(6) {
		data := planted.Topics(1500, 24, 200, 0.4, seed)
		for _, by := range []string{"annealing", "switching"} {
			for _, weight := range []float64{0, 0.1} {
				o := plainOptions()
				o.Method, o.UnlabeledWeight, o.Alpha, o.Tol = method.Method(by), weight, 0.02, 1e-9
				binary := mustFit(t, data, nil, o)
				o.Hierarchy = []int{2, 2, -1} // a tree without groups: asks for a column a class
				many := mustFit(t, data, nil, o)
				name := fmt.Sprintf("%s, unlabeled weight %v, seed %d", by, weight, seed)
				near, others := 1e-6, 0
				if weight > 0 { // a few rows at the border may have changed places
					near, others = 1e-4, 8
				}
				if got, want := many.Model.Objective, 2*binary.Model.Objective; math.Abs(got-want) > near*want {
					t.Errorf("%s: objective %v, twice the two-class one %v", name, got, want)
				}
				if other := disagreement(many.Transduction, binary.Transduction); other > others {
					t.Errorf("%s: %d rows of 1300 have another class", name, other)
				}
				for j, w := range binary.Model.Coef {
					if weight == 0 && math.Abs(many.Model.Coef[j]-2*w) > 1e-3 {
						t.Fatalf("%s: weight %d is %v, two classes %v", name, j, many.Model.Coef[j], w)
					}
				}
			}
		}
	}
}

func TestWeightZeroAndNoUnlabeledRowsAreTheSupervisedFit(t *testing.T) {
	data := fiveClasses(400, 6)
	only := data
	only.Labels = slices.Clone(data.Truth)
	for _, loss := range []string{"squared_hinge", "maxent", "crammer_singer"} {
		o := plainOptions()
		o.Loss, o.Tol = method.Loss(loss), 1e-9
		full := mustFit(t, only, nil, o)
		o.Method = "switching"
		again := mustFit(t, only, nil, o)
		if !slices.Equal(full.Model.Coef, again.Model.Coef) {
			t.Errorf("%s: the method matters without unlabeled rows", loss)
		}
		if wrong := disagreement(full.Transduction, data.Truth); wrong > 0 {
			t.Errorf("%s: %d given labels changed", loss, wrong)
		}
	}
}

func disagreement(a, b []int32) int { return belief.Differences(a, b) }

// Shares are kept in a tree, by a class without labels, which gets rows only as the prior says so, and with unequal
// weights: these shares are weighted ones, and to keep them the intercepts need not leave the gaps.
func TestManyClassesKeepTheirShares(t *testing.T) {
	for name, c := range map[string]struct {
		data     planted.Data
		shares   []float64
		tree     []int
		weighted bool
	}{
		"tree":    {fiveClasses(700, 8), fiveShares, []int{5, 5, 6, 6, -1, -1, -1}, false},
		"labels":  {planted.Classes(900, 120, 8, []float64{0.5, 0.3, 0.2}, 2), []float64{0.5, 0.3, 0.2}, nil, false},
		"weights": {fiveClasses(900, 9), fiveShares, nil, true},
	} {
		weights := make([]float64, len(c.data.Labels))
		for i, y := range c.data.Labels {
			if weights[i] = 1; c.weighted {
				weights[i] += float64(i % 3)
			}
			if name == "labels" && y == 2 {
				c.data.Labels[i] = -1
			}
		}
		for _, by := range []method.Method{"annealing", "switching"} {
			o := plainOptions()
			o.Method, o.Hierarchy, o.ClassPrior.Shares = by, c.tree, c.shares
			result := mustFit(t, c.data, weights, o)
			shares, total := make([]float64, len(c.shares)), 0.0
			for i, s := range byRow(result, c.data) {
				if c.data.Labels[i] < 0 {
					shares[vector.Largest(s)] += weights[i]
					total += weights[i]
				}
			}
			vector.Scale(shares, 1/total)
			wrong, _ := outcome(result, c.data, c.shares)
			if off := residualOf(shares, c.shares); off > 0.01 || c.tree != nil && wrong > 0.5 {
				t.Errorf("%s, %s: a share is off by %v, error %v", name, by, off, wrong)
			}
			if before := lastOf(result.History, "objective"); c.weighted && result.Model.Objective > 1.5*before {
				t.Errorf("%s: the moved intercepts raise the objective from %v to %v", by, before, result.Model.Objective)
			}
		}
	}
}

// Values at the end of the range of numbers are refused.
func TestManyClassesRefuseHugeValues(t *testing.T) {
	data := fiveClasses(60, 3)
	for name, o := range classSettings() {
		beyond := sample.Problem{Rows: planted.Resized(data.Rows, 0, func(_, _ int) float64 { return 0x1p1010 }), Labels: data.Labels}
		if _, err := Fit(beyond, o, nil, nil); err == nil || !strings.Contains(err.Error(), "scale your features") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Label distributions of methods of probabilities are the softmax of the model's own scores.
func TestDistributionsOfProbabilitiesAreThoseOfTheModel(t *testing.T) {
	two, _ := topicsOf(2, 16, 5)
	three, _ := topicsOf(3, 15, 5)
	for classes, data := range map[int]planted.Data{2: two, 3: three, 5: fiveClasses(300, 5)} {
		for _, name := range []method.Method{"entropy", "expectation"} {
			o := plainOptions()
			o.Method, o.Loss = name, "maxent"
			result := mustFit(t, data, nil, o)
			for i, scores := range byRow(result, data) {
				vector.Softmax(scores, scores)
				for y, p := range scores {
					if got := result.Distributions[i*classes+y]; data.Labels[i] < 0 && math.Abs(got-p) > 1e-9 {
						t.Fatalf("%s: row %d has %v of class %d, by its scores %v", name, i, got, y, p)
					}
				}
			}
		}
	}
}
