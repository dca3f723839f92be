package loss

import "math"

// begin of the page

// Logistic is log(1 + exp(-t)).
type Logistic struct{}

// At implements Margin.
func (Logistic) At(t float64) (value, slope, curvature float64) {
	q := 1 / (1 + math.Exp(t))
	return math.Max(0, -t) + math.Log1p(math.Exp(-math.Abs(t))), -q, q * (1 - q)
}

// end of the page
