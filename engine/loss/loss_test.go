package loss

import (
	"math"
	"testing"
)

func TestSlopesAndCurvaturesAreDifferences(t *testing.T) {
	const h = 1e-6
	margins := map[string]Margin{"squared hinge": SquaredHinge{}, "huber": Huber{Band: 0.3}, "logistic": Logistic{}}
	for name, margin := range margins {
		for _, at := range []float64{-2, -0.3, 0.5, 0.99, 1.01, 3} {
			value, slope, curvature := margin.At(at)
			high, highSlope, _ := margin.At(at + h)
			low, lowSlope, _ := margin.At(at - h)
			if value < 0 || math.Abs(slope-(high-low)/(2*h)) > 1e-6 || math.Abs(curvature-(highSlope-lowSlope)/(2*h)) > 1e-6 {
				t.Errorf("%s at %v: %v, %v, %v", name, at, value, slope, curvature)
			}
		}
	}
}

// Evaluate gives what At gives on both sides, for the scores at which losses bend, for far ones, and without a part on
// a side.
func TestEvaluateIsAtOnBothSides(t *testing.T) {
	var rows []Sides
	for _, z := range []float64{-1e200, -1e100, -2, -1, -0.3, 0, 0.99, 1, 1.01, 3, 1e100, 1e200} {
		for _, parts := range [][2]float64{{0, 0}, {0.7, 0}, {0, 0.7}, {0.7, 0.2}} {
			rows = append(rows, Sides{Z: z, Plus: parts[0], Minus: parts[1], Value: 1, Slope: 1, Curvature: 1})
		}
	}
	margins := map[string]Margin{"squared hinge": SquaredHinge{}, "huber": Huber{Band: 0.5}}
	for name, margin := range margins {
		Evaluate(margin, rows)
		for _, r := range rows {
			sum := func(plus, minus float64) (sum float64) {
				if r.Plus > 0 {
					sum += r.Plus * plus
				}
				if r.Minus > 0 {
					sum += r.Minus * minus
				}
				return sum
			}
			value, slope, curvature := margin.At(r.Z)
			otherValue, otherSlope, otherCurvature := margin.At(-r.Z)
			want := Sides{r.Z, r.Plus, r.Minus, sum(value, otherValue), sum(slope, -otherSlope), sum(curvature, otherCurvature)}
			near := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-15*math.Abs(b) }
			if !near(r.Value, want.Value) || !near(r.Slope, want.Slope) || r.Curvature != want.Curvature {
				t.Errorf("%s: %+v, should be %+v", name, r, want)
			}
		}
	}
}
