package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var classLosses = map[string]Classes{
	"one against the rest":         OneAgainstRest{Margin: SquaredHinge{}},
	"maxent":                       Softmax{Smoothing: 1},
	"Crammer-Singer, smoothed":     Softmax{Smoothing: 0.3, Margin: 1},
	"Crammer-Singer, sharp":        Softmax{Smoothing: 0.05, Margin: 1},
	"maxent at another smoothness": Softmax{Smoothing: 2.5},
}

func randomRow(random *rand.Rand, classes int) (s, p []float64) {
	s, p = make([]float64, classes), make([]float64, classes)
	total := 0.0
	for y := range s {
		s[y], p[y] = random.NormFloat64(), random.Float64()
		if random.IntN(3) == 0 {
			p[y] = 0
		}
		total += p[y]
	}
	if total == 0 {
		p[0], total = 1, 1
	}
	for y := range p {
		p[y] /= total
	}
	return s, p
}

func TestClassLossesAgreeWithDifferences(t *testing.T) {
	random, gap := rand.New(rand.NewPCG(3, 3)), Gap{Huber{0.3}, 10}
	for _, classes := range []int{2, 3, 7} {
		for range 20 {
			s, p := randomRow(random, classes)
			certain := make([]float64, classes)
			certain[random.IntN(classes)] = 1
			for name, l := range classLosses {
				checkDifferences(t, name, l, s, p)
				checkDifferences(t, name, l, s, certain)
			}
			checkDifferences(t, "gap", gap, s, certain)
			checkDifferences(t, "gap", gap, s, nil)
		}
	}
}

func checkDifferences(t *testing.T, name string, l Classes, s, p []float64) {
	t.Helper()
	const h = 1e-6
	k := len(s)
	slope, state, costs := make([]float64, k), make([]float64, k), make([]float64, k)
	up, down, scratch := make([]float64, k), make([]float64, k), make([]float64, k)
	value := l.At(s, p, slope, state)
	l.Costs(costs, s)
	mixed := 0.0
	for y, q := range p {
		mixed += q * costs[y]
	}
	if p != nil && math.Abs(value-mixed) > 1e-12*(1+value) {
		t.Errorf("%s: value %v, mixed costs %v", name, value, mixed)
	}
	product := make([]float64, k)
	for y := range s {
		clear(product)
		product[y] = 1
		l.HessVec(product, state)
		at := s[y]
		s[y] = at + h
		high := l.At(s, p, up, scratch)
		s[y] = at - h
		low := l.At(s, p, down, scratch)
		s[y] = at
		if math.Abs(slope[y]-(high-low)/(2*h)) > 1e-6 {
			t.Errorf("%s: slope %v, difference %v", name, slope[y], (high-low)/(2*h))
		}
		if product[y] < -1e-12 {
			t.Errorf("%s: curvature %v", name, product[y])
		}
		if p == nil { // not convex: the curvature is no bound
			continue
		}
		if d := product[y] - (up[y]-down[y])/(2*h); d < -1e-5 { // a bound on the curvature
			t.Errorf("%s: curvature %v less than the difference by %v", name, product[y], -d)
		}
		if softmax, ok := l.(Softmax); ok && softmax.Margin > 0 && slices.Max(p) < 1 {
			continue
		}
		for c := range s {
			if math.Abs(product[c]-(up[c]-down[c])/(2*h)) > 1e-5*(1+math.Abs(product[c])) {
				t.Errorf("%s: bend %v, difference %v", name, product[c], (up[c]-down[c])/(2*h))
			}
		}
	}
}

// As the smoothing falls, the loss comes down to the hinge of Crammer & Singer, never further away than σ log K.
func TestSmoothedHingeApproachesCrammerAndSinger(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 3))
	costs := make([]float64, 6)
	for range 100 {
		s, _ := randomRow(random, 6)
		for _, smoothing := range []float64{1, 0.1, 1e-3, 1e-6} {
			Softmax{Smoothing: smoothing, Margin: 1}.Costs(costs, s)
			for y := range s {
				hinge := 0.0
				for k, v := range s {
					if k != y {
						hinge = max(hinge, v+1-s[y])
					}
				}
				if d := costs[y] - hinge; d < -1e-12 || d > smoothing*math.Log(6)+1e-12 {
					t.Fatalf("σ = %v: %v above the hinge %v", smoothing, d, hinge)
				}
			}
		}
	}
}

func TestExtremeScoresStayFinite(t *testing.T) {
	s, p := []float64{1e4, -1e4, 0}, []float64{0, 1, 0}
	slope, state := make([]float64, 3), make([]float64, 3)
	for name, l := range classLosses {
		value := l.At(s, p, slope, state)
		product := slices.Clone(s)
		l.HessVec(product, state)
		for _, v := range slices.Concat(slope, product, []float64{value}) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: value %v, slope %v", name, value, slope)
			}
		}
	}
}
