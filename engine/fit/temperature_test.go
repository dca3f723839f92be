package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// drawn are rows of random scores, weights about 1.
func drawn(n, classes int, seed uint64) (rows crossfit.Scored) {
	random := rand.New(rand.NewPCG(seed, 1))
	rows.Views = make([][]float64, 1)
	for range n {
		rows.Weight = append(rows.Weight, 0.5+random.Float64())
		for range classes {
			rows.Views[0] = append(rows.Views[0], 3*random.NormFloat64())
		}
	}
	return rows
}

func find(rows crossfit.Scored, classes int, right, usual float64) float64 {
	return temperature(work.NewJob(1, nil), rows, classes, right, usual)
}

func TestTheMeanOfTheLargestProbabilitiesIsTheGivenOne(t *testing.T) {
	for _, classes := range []int{2, 5} {
		rows := drawn(200, classes, 3)
		for _, right := range []float64{0.55, 0.8, 0.95} {
			temperature, mean, p := find(rows, classes, right, 0.2), 0.0, make([]float64, classes)
			for i, w := range rows.Weight {
				scores := rows.Views[0][i*classes : (i+1)*classes]
				probability(p, scores, temperature, 0.03)
				if sum := vector.Sum(p); math.Abs(sum-1) > 1e-12 || slices.Min(p) < 0.03/float64(classes) {
					t.Fatalf("probabilities %v", p)
				}
				probability(p, scores, temperature, 0)
				mean += w * slices.Max(p) / vector.Sum(rows.Weight)
			}
			if math.Abs(mean-right) > 1e-9 {
				t.Errorf("%d classes: mean %v, want %v", classes, mean, right)
			}
		}
	}
}

func TestATemperatureOutOfReachIsFinite(t *testing.T) {
	rows := drawn(20, 4, 5)
	equal := crossfit.Scored{Views: [][]float64{make([]float64, 8)}, Weight: []float64{1, 1}}
	for _, right := range []float64{0, 0.25, 1} {
		for _, rows := range []crossfit.Scored{rows, equal} {
			if got := find(rows, 4, right, 0.2); !(got > 1e-7 && got < 1e5) {
				t.Errorf("temperature %v for the mean %v", got, right)
			}
		}
	}
}

// A factor on scores and on the usual temperature is one on the temperature: a power of 2 leaves the bits.
func TestTemperatureFollowsTheScale(t *testing.T) {
	rows := drawn(100, 4, 9)
	want := find(rows, 4, 0.7, 0.2)
	vector.Scale(rows.Views[0], 8)
	if got := find(rows, 4, 0.7, 8*0.2); got != 8*want {
		t.Errorf("temperature %v of scores, %v of eight times the scores", want, got)
	}
}

func TestSmoothing(t *testing.T) {
	if got := smoothing(0, 3); got != 1 {
		t.Errorf("%v without rows", got)
	}
	if got := smoothing(99, 5); math.Abs(got-0.01) > 1e-15 {
		t.Errorf("%v with 99 rows of 5 classes, want 1/100", got)
	}
}
