package minimize

import "math"

const maxLineEvaluations = 60

// lineSearch finds a zero t > 0 of the slope of an objective along its line, given the slope at 0; 0 if the objective
// does not fall there. A nonconvex one gets only points with a lower value, by leastDecrease times what the slope at 0
// promises (Armijo); a value is as low as another if they differ by rounding.
func lineSearch(f Objective, start, fraction float64) float64 {
	g, ok := f.(Nonconvex)
	if !ok {
		return search(func(t float64) (lower bool, slope, curvature float64) {
			slope, curvature = f.LineDerivatives(t)
			return true, slope, curvature
		}, start, fraction)
	}
	before, start, _ := g.Line(0)
	return search(func(t float64) (lower bool, slope, curvature float64) {
		value, slope, curvature := g.Line(t)
		return value <= before+leastDecrease*t*start+sameValue*math.Abs(before), slope, curvature
	}, start, fraction)
}

const (
	leastDecrease = 1e-4
	sameValue     = 1e-14
)

// search is a Newton search on the slope inside a bracket: at its lower end the function is low enough and still falls.
// On a piecewise linear slope it is exact as soon as it meets the right piece. It ends where the slope is the given
// fraction of start, that at 0, or where the bracket is that narrow (a slope that jumps over zero).
func search(along func(t float64) (lower bool, slope, curvature float64), start, fraction float64) float64 {
	if !(start < 0) {
		return 0
	}
	enough := fraction * math.Abs(start)
	low, high, t := 0.0, math.Inf(1), 1.0
	for range maxLineEvaluations {
		lower, slope, curvature := along(t)
		switch {
		case lower && math.Abs(slope) <= enough:
			return t
		case lower && slope < 0:
			low = t
		default:
			high = t
		}
		if !math.IsInf(high, 1) && high-low <= fraction*high {
			return ended(t, low, lower)
		}
		next := t - slope/curvature
		if !(next > low && next < high) {
			if next = (low + high) / 2; math.IsInf(high, 1) {
				next = 2*low + 1
			}
		}
		if next == t || next == low && next == high {
			return ended(t, low, lower)
		}
		t = next
	}
	return low
}

// ended is where a search ends: at the last point, if that is low enough.
func ended(t, low float64, lower bool) float64 {
	if lower {
		return t
	}
	return low
}
