package loss

import (
	"math"
	"testing"
)

// begin of the page

// Logistic is log(1 + exp(-t)).
type Logistic struct{}

// At implements Margin.
func (Logistic) At(t float64) (value, slope, curvature float64) {
	q := 1 / (1 + math.Exp(t))
	return math.Max(0, -t) + math.Log1p(math.Exp(-math.Abs(t))), -q, q * (1 - q)
}

// end of the page

func TestLogisticAgreesWithDifferences(t *testing.T) {
	const h = 1e-5
	for _, at := range []float64{-3, -0.5, 0, 0.2, 4} {
		value, slope, curvature := Logistic{}.At(at)
		up, slopeUp, _ := Logistic{}.At(at + h)
		down, slopeDown, _ := Logistic{}.At(at - h)
		if math.Abs(value-math.Log(1+math.Exp(-at))) > 1e-12 || math.Abs(slope-(up-down)/(2*h)) > 1e-8 ||
			math.Abs(curvature-(slopeUp-slopeDown)/(2*h)) > 1e-8 {
			t.Errorf("at %v: value %v, slope %v, curvature %v", at, value, slope, curvature)
		}
	}
}
