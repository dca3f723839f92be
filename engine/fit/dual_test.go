package fit

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/planted"
)

// The optimum is that of Newton steps at a tolerance that the epochs of the dual do not reach.
func TestTheDualFindsTheSupervisedSolutionOrAStartOfIt(t *testing.T) {
	data := planted.Topics(600, 700, 400, 0.4, 3)
	for _, alpha := range []float64{1e-2, 1e-6} {
		o := plainOptions()
		o.UnlabeledWeight, o.Alpha, o.Tol = 0, alpha, 1e-13
		exact := mustFit(t, data, nil, o).Model
		o.Tol = 1e-5
		loose := mustFit(t, data, nil, o).Model
		if off := loose.Objective/exact.Objective - 1; off < 0 || off > o.Tol {
			t.Errorf("alpha %v: objective %v above the optimum, in parts of it", alpha, off)
		}
		if byDual := loose.Iterations == 1; byDual != (alpha == 1e-2) || loose.Termination != "converged" {
			t.Errorf("alpha %v: %d steps, %s", alpha, loose.Iterations, loose.Termination)
		}
		if exact.Iterations == 1 || math.IsNaN(exact.Objective) {
			t.Errorf("alpha %v: %d steps to the last digits", alpha, exact.Iterations)
		}
	}
}
