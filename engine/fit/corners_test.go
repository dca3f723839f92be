package fit

import (
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
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
