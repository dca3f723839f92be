package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestExponentialsAreExactToTheLastDigitOrTwo(t *testing.T) {
	x := []float64{0, -0.5, 1, 708, -708, -708.1, -1e300, math.Inf(-1), math.Ln2 / 2, -math.Ln2 / 2, -1e-300}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x = append(x, -708*random.Float64(), random.NormFloat64())
	}
	found := slices.Clone(x)
	Exp(found)
	for k, v := range x {
		want := math.Exp(v)
		if v < leastExponent {
			want = 0
		}
		if math.Abs(found[k]-want) > 4e-16*want {
			t.Fatalf("e^%v is %v, should be %v", v, found[k], want)
		}
	}
}

func TestExponentialsHaveTheSameBitsInEveryPlace(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 70 {
		x := make([]float64, n)
		for k := range x {
			x[k] = -100 * random.ExpFloat64()
		}
		found := slices.Clone(x)
		Exp(found)
		for k, v := range x {
			if found[k] != exp(v) {
				t.Fatalf("%d entries: e^%v is %v in the loop, %v by itself", n, v, found[k], exp(v))
			}
		}
	}
}

func BenchmarkExp(b *testing.B) {
	x, y := make([]float64, 1024), make([]float64, 1024)
	for k := range x {
		x[k] = -float64(k) / 50
	}
	for b.Loop() {
		copy(y, x)
		Exp(y)
	}
}

func BenchmarkMathExp(b *testing.B) {
	x, y := make([]float64, 1024), make([]float64, 1024)
	for k := range x {
		x[k] = -float64(k) / 50
	}
	for b.Loop() {
		for k, v := range x {
			y[k] = math.Exp(v)
		}
	}
}
