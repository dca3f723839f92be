package loss

import (
	"math"
	"testing"
)

func TestSlopesAndCurvaturesAreDifferences(t *testing.T) {
	const h = 1e-6
	for name, margin := range map[string]Margin{"squared hinge": SquaredHinge{}, "hinge": Hinge{}} {
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
