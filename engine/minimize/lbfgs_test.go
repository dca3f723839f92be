package minimize

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

// function is a Smooth from a function.
type function func(w, gradient []float64) float64

func (f function) At(w, gradient []float64) float64 { return f(w, gradient) }

// rosenbrock is curved and not convex: 100 (w₂ - w₁²)² + (1 - w₁)², for pairs of variables.
func rosenbrock(w, g []float64) (value float64) {
	for k := 0; k < len(w); k += 2 {
		a, b := w[k+1]-w[k]*w[k], 1-w[k]
		value += 100*a*a + b*b
		g[k], g[k+1] = -400*w[k]*a-2*b, 200*a
	}
	return value
}

func untilFlat(norm float64) func(int, float64, float64) bool {
	return func(_ int, _, found float64) bool { return found <= norm }
}

func TestQuasiNewtonFindsTheMinimumOfRosenbrocksFunction(t *testing.T) {
	for _, start := range []float64{-1.2, 3, -0.5} {
		w := make([]float64, 20)
		for k := range w {
			w[k] = start + 0.1*float64(k)
		}
		value, steps := 0.0, 0
		search := QuasiNewton{Memory: 8, MaxSteps: 1000, Enough: func(step int, now, norm float64) bool {
			value, steps = now, step
			return norm <= 1e-9
		}}
		search.Minimize(function(rosenbrock), w)
		for _, v := range w {
			if math.Abs(v-1) > 1e-8 {
				t.Fatalf("from %v: %v after %d steps, value %v", start, w, steps, value)
			}
		}
		if steps > 300 {
			t.Errorf("from %v: %d steps", start, steps)
		}
	}
}

func TestQuasiNewtonAndNewtonMeet(t *testing.T) {
	newton, other, w := newQuadratic(20), newQuadratic(20), make([]float64, 20)
	NewNewton(20, work.NewPool(1)).Minimize(newton, Limits{Tolerance: 1e-15, MaxSteps: 50})
	search := QuasiNewton{Memory: 8, MaxSteps: 1000, Enough: untilFlat(1e-9)}
	search.Minimize(function(func(w, g []float64) float64 {
		copy(other.w, w)
		return other.Gradient(g)
	}), w)
	for j := range w {
		if math.Abs(w[j]-newton.w[j]) > 1e-6 {
			t.Fatalf("%v and %v", w, newton.w)
		}
	}
}

func TestQuasiNewtonEndsWhereNothingImproves(t *testing.T) {
	w := []float64{3}
	search := QuasiNewton{Memory: 4, MaxSteps: 1000, Enough: untilFlat(0)}
	search.Minimize(function(func(w, g []float64) float64 { // |w| has no gradient at its minimum
		g[0] = math.Copysign(1, w[0])
		return math.Abs(w[0])
	}), w)
	if math.Abs(w[0]) > 1e-6 {
		t.Errorf("ends at %v", w[0])
	}
}
