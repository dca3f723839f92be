package fit

import (
	"fmt"
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
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
			if off := distance(shares, c.shares); off > 0.01 || c.tree != nil && wrong > 0.5 {
				t.Errorf("%s, %s: a share is off by %v, error %v", name, by, off, wrong)
			}
			if before := lastOf(t, result, "objective"); c.weighted && result.Model.Objective > 1.5*before {
				t.Errorf("%s: the moved intercepts raise the objective from %v to %v", by, before, result.Model.Objective)
			}
		}
	}
}

// Two classes with a column each have the classifier of a pair; the objective is twice as large, or with twice alpha
// that of the gradient method the same. With labeled rows that weigh more than all others together there is one solution to
// find; with few the two ways, which take other steps, can end in neighboring ones.
func TestTwoClassesAsManyAgreeWithTheTwoClassWay(t *testing.T) {
	for seed := range uint64(3) {
		data := planted.Topics(1000, 24, 200, 0.4, seed)
		for by, scale := range map[method.Method]float64{"annealing": 1, "switching": 1, "gradient": 2} {
			for _, weight := range []float64{0, 0.1} {
				o := plainOptions()
				o.Method, o.UnlabeledWeight, o.Alpha, o.Tol = by, weight, 0.02, 1e-9
				binary := mustFit(t, data, nil, o)
				o.Hierarchy = []int{2, 2, -1} // a tree without groups: asks for a column a class
				o.Alpha *= scale
				many := mustFit(t, data, nil, o)
				name := fmt.Sprintf("%s, unlabeled weight %v, seed %d", by, weight, seed)
				near, others := 1e-6, 0
				if weight > 0 { // a few rows at the border may have changed places
					near, others = 1e-4, 8
				}
				if got, want := many.Model.Objective, 2/scale*binary.Model.Objective; math.Abs(got-want) > near*want {
					t.Errorf("%s: objective %v, should be %v", name, got, want)
				}
				if other := disagreement(many.Transduction, binary.Transduction); other > others {
					t.Errorf("%s: %d rows of 800 have another class", name, other)
				}
				for j, w := range binary.Model.Coef {
					if weight == 0 && math.Abs(many.Model.Coef[j]-2/scale*w) > 1e-3 {
						t.Fatalf("%s: weight %d is %v, two classes %v", name, j, many.Model.Coef[j], w)
					}
				}
			}
		}
	}
}
