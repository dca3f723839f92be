package loss

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSlopesOfHuberAndPlateauAreDifferences(t *testing.T) {
	const h = 1e-7
	sloped := func(t float64) (value, slope float64) {
		value, slope, _ = Huber{0.3}.At(t)
		return value, slope
	}
	for at := -0.5; at < 1.6; at += 0.0371 {
		for name, judge := range map[string]func(float64) (value, slope float64){"huber": sloped, "plateau": Plateau} {
			_, slope := judge(at)
			high, _ := judge(at + h)
			low, _ := judge(at - h)
			if math.Abs(slope-(high-low)/(2*h)) > 1e-5 {
				t.Errorf("%s at %v: slope %v, difference %v", name, at, slope, (high-low)/(2*h))
			}
		}
	}
}

func TestGapAgreesWithDifferences(t *testing.T) {
	const h = 1e-6
	random, l := rand.New(rand.NewPCG(3, 3)), Gap{Huber{0.3}, 10}
	for _, classes := range []int{2, 3, 7} {
		for range 40 {
			s, _ := randomRow(random, classes)
			certain := make([]float64, classes)
			certain[random.IntN(classes)] = 1
			for _, p := range [][]float64{certain, nil} {
				slope, state := make([]float64, classes), make([]float64, classes)
				scratch, room := make([]float64, classes), make([]float64, classes)
				l.At(s, p, slope, state)
				for y, at := range s {
					s[y] = at + h
					high := l.At(s, p, scratch, room)
					s[y] = at - h
					low := l.At(s, p, scratch, room)
					s[y] = at
					if math.Abs(slope[y]-(high-low)/(2*h)) > 1e-4 {
						t.Errorf("%d classes, slope %v, difference %v", classes, slope[y], (high-low)/(2*h))
					}
				}
				product, v := make([]float64, classes), make([]float64, classes)
				for y := range v {
					v[y] = random.NormFloat64()
				}
				l.HessVec(product, v, p, state)
				inner := 0.0
				for y := range v {
					inner += v[y] * product[y]
				}
				if inner < -1e-12 {
					t.Errorf("curvature %v", inner)
				}
			}
		}
	}
}
