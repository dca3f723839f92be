package minimize

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// quadratic is ½ Σ c_j (w_j - j)², with c_j over several orders of magnitude.
type quadratic struct{ c, w, s []float64 }

func newQuadratic(d int) *quadratic {
	q := &quadratic{c: make([]float64, d), w: make([]float64, d)}
	for j := range q.c {
		q.c[j] = math.Pow(10, float64(j%5)-2)
	}
	return q
}

func (q *quadratic) Gradient(dst []float64) float64 {
	value := 1.0
	for j, c := range q.c {
		dst[j] = c * (q.w[j] - float64(j))
		value += c / 2 * (q.w[j] - float64(j)) * (q.w[j] - float64(j))
	}
	return value
}
func (q *quadratic) Gap(gradient []float64) float64 {
	return vector.Dot(gradient, gradient) / (2 * 0.01)
}
func (q *quadratic) Approximate(bool) bool { return false }

// Direction leaves no more than half of what is allowed.
func (q *quadratic) Direction(g []float64, eta float64) (slope float64) {
	q.s = make([]float64, len(g))
	for j, c := range q.c {
		q.s[j] = -(1 - eta/2) * g[j] / c
		slope += q.s[j] * g[j]
	}
	return slope
}

func (q *quadratic) Line(t float64) (value, slope, curvature float64) {
	for j, c := range q.c {
		slope += c * (q.w[j] + t*q.s[j] - float64(j)) * q.s[j]
		curvature += c * q.s[j] * q.s[j]
	}
	return 0, slope, curvature
}
func (q *quadratic) Step(t float64) {
	for j := range q.w {
		q.w[j] += t * q.s[j]
	}
}

func TestNewtonFindsTheMinimumOfAQuadratic(t *testing.T) {
	q := newQuadratic(20)
	outcome := NewNewton(20, work.NewPool(1)).Minimize(q, Limits{Tolerance: 1e-12, MaxSteps: 50})
	if !outcome.Converged || math.Abs(outcome.Value-1) > 1e-11 {
		t.Fatalf("outcome %+v", outcome)
	}
	for j, w := range q.w {
		if math.Abs(w-float64(j)) > 1e-4 {
			t.Errorf("w[%d] is %v", j, w)
		}
	}
}

func TestNewtonStopsAtMaxSteps(t *testing.T) {
	outcome := NewNewton(20, work.NewPool(1)).Minimize(newQuadratic(20), Limits{Tolerance: 1e-12, MaxSteps: 1})
	if outcome.Converged || outcome.Steps != 1 {
		t.Errorf("outcome %+v", outcome)
	}
}

// line is the objective along a line alone.
type line struct {
	Objective
	along func(t float64) (slope, curvature float64)
}

func (l line) Line(t float64) (value, slope, curvature float64) {
	slope, curvature = l.along(t)
	return 0, slope, curvature
}

func TestLineSearchIsExactOnPiecewiseLinearSlopes(t *testing.T) {
	// slope -3 + t up to the break at 2, then 10 (t - 2) - 1: zero at 2.1
	slope := func(t float64) (float64, float64) {
		if t < 2 {
			return -3 + t, 1
		}
		return -1 + 10*(t-2), 10
	}
	if got := lineSearch(line{along: slope}, -3, exactLine, false); math.Abs(got-2.1) > 1e-9 {
		t.Errorf("zero at %v, should be 2.1", got)
	}
	flat := func(t float64) (float64, float64) { return math.Min(-1+t/8, -0.5), 0 } // flat piece: no curvature to step with
	if got := lineSearch(line{along: flat}, -1, exactLine, false); math.IsNaN(got) {
		t.Error("NaN on a slope that never reaches zero")
	}
	if got := lineSearch(line{}, 0, exactLine, false); got != 0 {
		t.Errorf("a step of %v where the slope does not fall", got)
	}
}
