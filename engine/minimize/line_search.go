package minimize

import "math"

const maxLineEvaluations = 60

// LineSearch finds the zero t > 0 of the slope of a convex function along a line, given its first and second
// derivative; 0 if the slope does not fall at 0. Newton's method inside a bracket: on a piecewise linear slope it
// is exact as soon as it meets the right piece. It ends where the slope is the given fraction of that at 0, or
// where the bracket is that narrow (a slope that jumps over zero).
func LineSearch(along func(t float64) (slope, curvature float64), fraction float64) float64 {
	start, _ := along(0)
	if !(start < 0) {
		return 0
	}
	enough := fraction * math.Abs(start)
	low, high, t := 0.0, math.Inf(1), 1.0
	for range maxLineEvaluations {
		slope, curvature := along(t)
		if math.Abs(slope) <= enough {
			return t
		}
		if slope < 0 {
			low = t
		} else {
			high = t
		}
		if !math.IsInf(high, 1) && high-low <= fraction*high {
			return t
		}
		next := t - slope/curvature
		if !(next > low && next < high) {
			next = inside(low, high)
		}
		if next == t || next == low && next == high {
			return t
		}
		t = next
	}
	return low
}

func inside(low, high float64) float64 {
	if math.IsInf(high, 1) {
		return 2*low + 1
	}
	return (low + high) / 2
}
