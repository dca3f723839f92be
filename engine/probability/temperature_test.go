package probability

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/work"
)

// drawn are rows whose classes are drawn with the probabilities softmax(s/T) of their scores s.
func drawn(n, classes int, temperature float64, seed uint64) *crossfit.Scores {
	random := rand.New(rand.NewPCG(seed, 1))
	r := &crossfit.Scores{Classes: classes}
	for range n {
		probabilities, total := make([]float64, classes), 0.0
		for y := range classes {
			s := 3 * temperature * random.NormFloat64()
			r.Held.Scores = append(r.Held.Scores, s)
			probabilities[y] = math.Exp(s / temperature)
			total += probabilities[y]
		}
		at, class := random.Float64()*total, 0
		for at -= probabilities[0]; at > 0 && class < classes-1; at -= probabilities[class] {
			class++
		}
		r.Class, r.Held.Weight = append(r.Class, int32(class)), append(r.Held.Weight, 1)
	}
	return r
}

func find(r *crossfit.Scores, usual float64) float64 {
	return Temperature(work.NewJob(1, nil), r, usual)
}

func TestTemperatureOfKnownMiscalibration(t *testing.T) {
	for _, want := range []float64{0.01, 0.2, 1, 7} {
		for _, classes := range []int{2, 5} {
			if got := find(drawn(10000, classes, want, 3), 1); math.Abs(got/want-1) > 0.04 {
				t.Errorf("%d classes: temperature %v, the rows were drawn with %v", classes, got, want)
			}
		}
	}
}

// posterior is minus the logarithm of that of T, from probabilities instead of differences of scores.
func posterior(r *crossfit.Scores, temperature, usual float64) float64 {
	k, total := float64(r.Classes), 0.0
	for _, w := range r.Held.Weight {
		total += w
	}
	e := 0.2 * k / (total + 0.2*k)
	value := math.Log(1 + math.Pow(math.Log(temperature/usual)/0.1, 2))
	for i, y := range r.Class {
		scores := r.Held.Scores[i*r.Classes : (i+1)*r.Classes]
		sum := 0.0
		for _, s := range scores {
			sum += math.Exp((s - slices.Max(scores)) / temperature)
		}
		value -= r.Held.Weight[i] * math.Log((1-e)*math.Exp((scores[y]-slices.Max(scores))/temperature)/sum+e/k)
	}
	return value
}

func TestTemperatureIsTheModeOfThePosterior(t *testing.T) {
	for seed := range uint64(5) {
		r := drawn(30, 3, 0.5, seed)
		got := find(r, 0.2)
		least := posterior(r, got, 0.2)
		for step := -12.0; step < 12; step += 0.01 {
			if value := posterior(r, 0.2*math.Exp(step), 0.2); value < least-1e-9 {
				t.Fatalf("seed %d: %v at %v, but %v at %v", seed, least, got, value, 0.2*math.Exp(step))
			}
		}
	}
}

// A factor on scores and on the usual temperature is one on the temperature: a power of 2 leaves the bits.
func TestTemperatureFollowsTheScale(t *testing.T) {
	r := drawn(100, 4, 0.5, 9)
	want := find(r, 0.2)
	for i := range r.Held.Scores {
		r.Held.Scores[i] *= 8
	}
	if got := find(r, 8*0.2); got != 8*want {
		t.Errorf("temperature %v of scores, %v of eight times the scores", want, got)
	}
}

func TestAWeightCountsAsRows(t *testing.T) {
	once := drawn(50, 3, 0.5, 2)
	held := once.Held
	twice := &crossfit.Scores{Classes: 3, Class: slices.Concat(once.Class, once.Class),
		Held: crossfit.Scored{Scores: slices.Concat(held.Scores, held.Scores), Weight: slices.Concat(held.Weight, held.Weight)}}
	for i := range once.Held.Weight {
		once.Held.Weight[i] = 2
	}
	if a, b := find(once, 1), find(twice, 1); math.Abs(a/b-1) > 1e-6 { // flat to rounding within 1e-7
		t.Errorf("temperature %v with weights 2, %v with all rows twice", a, b)
	}
	for i := range once.Held.Weight {
		once.Held.Weight[i] = 1e-9
	}
	if got := find(once, 0.2); math.Abs(got/0.2-1) > 1e-6 {
		t.Errorf("temperature %v of rows without weight, the usual one is 0.2", got)
	}
}

func TestSmoothing(t *testing.T) {
	if got := Smoothing(0, 3); got != 1 {
		t.Errorf("%v without rows", got)
	}
	if got := Smoothing(99, 5); math.Abs(got-0.01) > 1e-15 {
		t.Errorf("%v with 99 rows of 5 classes, want 1/100", got)
	}
}
