// Package minimize finds the minimum of smooth functions of many variables. It sees an objective as value, gradient and
// Newton direction and knows nothing of data, labels or how variables are stored.
//
// # Newton with conjugate gradients
//
//	Problem  min F(w) over w in R^d, F strongly convex, piecewise twice differentiable
//	Symbols  g gradient [d]; H generalized Hessian [d, d], seen only through products; s step [d]; t step length;
//	         η forcing term: CG stops at |H s + g| <= η |g|
//	Source   Keerthi & DeCoste 2005 (modified finite Newton: active-set Newton steps, exact line search);
//	         Sindhwani & Keerthi 2006 section 2. Differences: the forcing term follows Eisenstat & Walker 1996
//	         (choice 2, γ = 0.9, exponent 2), the exact line search is a bracketed Newton search on the piecewise
//	         linear slope, and the objective may precondition (a diagonal takes 1.2 to 2 times more passes)
//	Stops    in this order: F(w) - F(w*) <= Tolerance F(w), guaranteed by the objective's Gap; MaxSteps taken; the
//	         line search cannot improve any more (rounding)
//	Cost     a step: one gradient, one direction (2 products with the data), one Hessian product (2 products, active
//	         rows) a CG iteration
package minimize

import (
	"cmp"
	"math"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Objective is a function at a current point, which it holds, with its generalized Hessian.
type Objective interface {
	// Gradient puts the gradient at the current point into dst and returns the value. It may forget the direction.
	Gradient(dst []float64) float64
	// Gap is an upper bound on F(w) - F(w*) at the current point, given the gradient there.
	Gap(gradient []float64) float64
	// Direction prepares the line w + t s, where |H s + g| <= η |g|, and returns its slope at w. It overwrites g, the
	// gradient at the current point.
	Direction(g []float64, eta float64) (slope float64)
	// Line gives the value along that line, up to a constant of the line, and its first and second derivative.
	Line(t float64) (value, slope, curvature float64)
	// Step moves the current point to w + t s.
	Step(t float64)
	// Approximate allows gradients that are exact to some six digits, or forbids them from now on; it reports whether
	// they will be approximate.
	Approximate(allowed bool) bool
}

type Limits struct {
	Tolerance float64 // F(w) - F(w*) <= Tolerance F(w)
	MaxSteps  int     // Newton steps
	Forcing   float64 // largest η; 0 means 0.5
	Line      float64 // fraction of the slope at which a line search may end; 0 means exact
	Rounded   bool    // approximate gradients to the end; otherwise as far as they lead
	Descends  bool    // steps go to lower values only, as of an objective that is not convex; its Gap is no bound
}

// Outcome is how a minimization ended. Where MaxSteps ended it, value and gap are those before the last step.
type Outcome struct {
	Value     float64 // F where the last gradient was taken
	Gap       float64 // bound on F(w) - F(w*) there
	Steps     int
	Converged bool
}

// Finite reports whether the minimization has not left the range of numbers: nothing that follows could bring it back.
func (o Outcome) Finite() bool { return o.Gap-o.Gap == 0 }

// Newton minimizes an objective by Newton steps. It keeps the memory of the gradient for the next call.
type Newton struct {
	pool     *work.Pool
	gradient []float64
}

func NewNewton(d int, pool *work.Pool) *Newton { return &Newton{pool, make([]float64, d)} }

// Minimize takes steps: gradient, test of convergence, forcing term, direction, line search, step. Where approximate
// gradients lead no further, it goes on with exact ones.
func (n *Newton) Minimize(f Objective, limits Limits) Outcome {
	approximate := f.Approximate(true)
	forcing := cmp.Or(limits.Forcing, 0.5)
	eta, last := forcing, 0.0
	var result Outcome
	for steps := 0; ; {
		if steps > 0 && steps == limits.MaxSteps {
			result.Steps = steps
			return result
		}
		value := f.Gradient(n.gradient)
		norm, gap := n.norm(), f.Gap(n.gradient)
		converged := gap <= limits.Tolerance*value
		if (converged || steps > 0 && gap > result.Gap) && approximate && !limits.Rounded { // the same for certain
			approximate = f.Approximate(false)
			continue
		}
		result = Outcome{Value: value, Gap: gap, Steps: steps, Converged: converged}
		if converged {
			return result
		}
		if last > 0 {
			eta = nextForcing(eta, norm/last, forcing)
		}
		last = norm
		enough := 0.3 * math.Sqrt(max(0, limits.Tolerance*value/gap)) // for the tolerance
		slope := f.Direction(n.gradient, max(eta, enough))
		t := lineSearch(f, slope, max(limits.Line, exactLine), limits.Descends)
		switch {
		case t != 0:
			f.Step(t)
			steps++
		case approximate && !limits.Rounded:
			approximate = f.Approximate(false)
		default:
			return result
		}
	}
}

func (n *Newton) norm() float64 {
	var sum [1]float64
	n.pool.Total(len(n.gradient), sum[:], func(lo, hi int, dst []float64) {
		dst[0] = vector.Dot(n.gradient[lo:hi], n.gradient[lo:hi])
	})
	return math.Sqrt(sum[0])
}

// nextForcing is choice 2 of Eisenstat & Walker 1996 with its safeguard; fall = |g| / |g before|.
func nextForcing(eta, fall, largest float64) float64 {
	next := 0.9 * fall * fall
	if safe := 0.9 * eta * eta; safe > 0.1 {
		next = max(next, safe)
	}
	return min(max(next, 0.01), largest)
}

const (
	exactLine          = 1e-10 // where rounding ends a line search
	maxLineEvaluations = 60
	leastDecrease      = 1e-4
	sameValue          = 1e-14
)

// lineSearch finds a zero t > 0 of the slope of an objective along its line, given the slope at 0; 0 if the objective
// does not fall there. One that descends gets only points with a lower value, by leastDecrease times what the slope at
// 0 promises (Armijo); a value is as low as another if they differ by rounding.
//
// It is a Newton search on the slope inside a bracket: at its lower end the function is low enough and still falls. On
// a piecewise linear slope it is exact as soon as it meets the right piece. It ends where the slope is the given
// fraction of that at 0, or where the bracket is that narrow (a slope that jumps over zero).
func lineSearch(f Objective, start, fraction float64, descends bool) float64 {
	before := 0.0
	if descends {
		before, start, _ = f.Line(0)
	}
	if !(start < 0) {
		return 0
	}
	enough := fraction * math.Abs(start)
	low, high, t := 0.0, math.Inf(1), 1.0
	for range maxLineEvaluations {
		value, slope, curvature := f.Line(t)
		lower := !descends || value <= before+leastDecrease*t*start+sameValue*math.Abs(before)
		switch {
		case lower && math.Abs(slope) <= enough:
			return t
		case lower && slope < 0:
			low = t
		default:
			high = t
		}
		next := t - slope/curvature
		if !(next > low && next < high) {
			if next = (low + high) / 2; math.IsInf(high, 1) {
				next = 2*low + 1
			}
		}
		narrow := !math.IsInf(high, 1) && high-low <= fraction*high || next == t || next == low && next == high
		switch {
		case narrow && lower:
			return t
		case narrow:
			return low
		}
		t = next
	}
	return low
}
