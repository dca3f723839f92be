package minimize

import "math"

const maxLineEvaluations = 60

// LineSearch finds the zero t > 0 of the slope of a convex function along a line, given its first and second
// derivative, and the first at 0; 0 if the function does not fall there. Newton's method inside a bracket: on a
// piecewise linear slope it is exact as soon as it meets the right piece. It ends where the slope is the given fraction
// of that at 0, or where the bracket is that narrow (a slope that jumps over zero).
func LineSearch(along func(t float64) (slope, curvature float64), start, fraction float64) float64 {
	return search(func(t float64) (lower bool, slope, curvature float64) {
		slope, curvature = along(t)
		return true, slope, curvature
	}, start, fraction)
}

// DescentSearch is LineSearch for a function that need not be convex: it accepts only points with a lower value, by
// leastDecrease times what the slope at 0 promises (Armijo), and looks nearer where the value is higher. A value is as
// low as another if they differ by rounding.
func DescentSearch(along func(t float64) (value, slope, curvature float64), fraction float64) float64 {
	start, first, _ := along(0)
	return search(func(t float64) (lower bool, slope, curvature float64) {
		value, slope, curvature := along(t)
		return value <= start+leastDecrease*t*first+sameValue*math.Abs(start), slope, curvature
	}, first, fraction)
}

const (
	leastDecrease = 1e-4
	sameValue     = 1e-14
)

// search is a Newton search on the slope inside a bracket: at its lower end the function is low enough and still falls.
// start is the slope at 0.
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
			next = inside(low, high)
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

func inside(low, high float64) float64 {
	if math.IsInf(high, 1) {
		return 2*low + 1
	}
	return (low + high) / 2
}
