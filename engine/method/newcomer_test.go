package method_test

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// A method is a file and a row of the table: options accept it then, and fits of two and more classes run by it.
func TestANewMethodIsAFileAndARow(t *testing.T) {
	t.Cleanup(method.AddSelfTraining())
	two, five := []float64{0.6, 0.4}, []float64{0.3, 0.25, 0.2, 0.15, 0.1}
	for _, c := range []struct {
		data   planted.Data
		shares []float64
		loss   method.Loss
	}{
		{planted.Topics(800, 120, 8, 0.3, 3), two, "squared_hinge"},
		{planted.Classes(800, 120, 40, five, 3), five, "maxent"},
	} {
		o := method.Defaults()
		if err := o.Table().Decode([]byte(`{"method": "self_training", "unlabeled_weight": 1}`)); err != nil {
			t.Fatal(err)
		}
		o.Loss, o.ClassPrior.Shares = c.loss, c.shares
		result, err := fit.Fit(sample.Problem{Rows: c.data.Rows, Labels: c.data.Labels}, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result.Returned != "self_training" || result.Model.Termination != "no_switch" || len(result.History[1].Values) != 4 {
			t.Errorf("%s: %s after %v", result.Returned, result.Model.Termination, result.History)
		}
		counts := make([]float64, len(c.shares))
		for i, y := range result.Transduction {
			if c.data.Labels[i] < 0 {
				counts[y]++
			}
		}
		total := vector.Sum(counts)
		for y, share := range c.shares {
			if math.Abs(counts[y]/total-share) > 0.01 {
				t.Errorf("class %d has a share of %v, should be %v", y, counts[y]/total, share)
			}
		}
	}
}
