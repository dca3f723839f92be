package loss

import (
	"math"
	"testing"
)

func TestTheSlopeOfThePlateauIsItsDifference(t *testing.T) {
	const h = 1e-7
	for at := -0.5; at < 1.6; at += 0.0371 {
		_, slope := Plateau(at)
		high, _ := Plateau(at + h)
		low, _ := Plateau(at - h)
		if math.Abs(slope-(high-low)/(2*h)) > 1e-5 {
			t.Errorf("at %v: slope %v, difference %v", at, slope, (high-low)/(2*h))
		}
	}
}
