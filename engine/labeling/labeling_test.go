package labeling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

func draw(n int, seed uint64) (g, s []float64) {
	random := rand.New(rand.NewPCG(seed, 2))
	g, s = make([]float64, n), make([]float64, n)
	for j := range g {
		g[j], s[j] = 4*random.NormFloat64(), 0.5+random.Float64()
	}
	return g, s
}

func TestSoftKeepsTheShareAndItsClosedForm(t *testing.T) {
	job := work.NewJob(2, nil)
	for _, temperature := range []float64{100, 1, 1e-2, 1e-6} {
		for _, share := range []float64{0.5, 0.26, 0.003} {
			g, s := draw(5000, 4)
			p := make([]float64, len(g))
			nu := Soft(job, p, g, s, temperature, share, 0)
			total, positive := 0.0, 0.0
			for j := range p {
				if want := 1 / (1 + math.Exp((g[j]-nu)/temperature)); p[j] != want {
					t.Fatalf("p[%d] is %v, should be %v", j, p[j], want)
				}
				total += s[j]
				positive += s[j] * p[j]
			}
			if math.Abs(positive/total-share) > 1e-9 {
				t.Errorf("T = %v: the share is %v, should be %v", temperature, positive/total, share)
			}
		}
	}
}

func TestSoftIsTheMinimum(t *testing.T) {
	// Moving weight between two rows, which keeps the share, never lowers the objective.
	g, s := draw(6, 8)
	for j := range s {
		s[j] = 1
	}
	const temperature = 0.8
	p := make([]float64, len(g))
	Soft(work.NewJob(1, nil), p, g, s, temperature, 0.4, 0)
	value := func(p []float64) float64 {
		total := 0.0
		for j, q := range p {
			total += q*g[j] + temperature*(q*math.Log(q)+(1-q)*math.Log(1-q))
		}
		return total
	}
	best := value(p)
	for a := range p {
		for b := range p {
			for _, move := range []float64{1e-3, -1e-3} {
				other := slices.Clone(p)
				other[a] += move
				other[b] -= move
				if a != b && other[a] > 0 && other[a] < 1 && other[b] > 0 && other[b] < 1 && value(other) < best {
					t.Fatalf("moving %v from row %d to %d lowers the objective", move, b, a)
				}
			}
		}
	}
}

func TestEntropy(t *testing.T) {
	job, one := work.NewJob(1, nil), []float64{1, 1}
	if h := Entropy(job, []float64{0.5, 1}, one); h != 0.5 {
		t.Errorf("entropy %v, should be 0.5 bits a row", h)
	}
}

func TestTopTakesTheShareByWeight(t *testing.T) {
	scores := []float64{0.1, 0.9, -0.5, 0.4}
	positive, scratch := make([]bool, 4), make([]float64, 4)
	threshold := Top(positive, scores, []float64{1, 1, 1, 1}, 0.5, scratch)
	if !slices.Equal(positive, []bool{false, true, false, true}) || threshold != 0.25 {
		t.Errorf("got %v, threshold %v", positive, threshold)
	}
	Top(positive, scores, []float64{1, 2, 1, 1}, 0.4, scratch) // the first row has 2 of 5 already
	if !slices.Equal(positive, []bool{false, true, false, false}) {
		t.Errorf("weighted: got %v", positive)
	}
	for _, share := range []float64{1e-9, 1 - 1e-9} { // a row for either side, whatever the share
		Top(positive, scores, []float64{1, 1, 1, 1}, share, scratch)
		if !slices.Contains(positive, true) || !slices.Contains(positive, false) {
			t.Errorf("share %v: got %v", share, positive)
		}
	}
}

// Labels and threshold say the same, for ties, weights and neighbouring numbers as well.
func TestTopAndItsThresholdAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for trial := range 2000 {
		n := 2 + random.IntN(8)
		scores, weights, positive := make([]float64, n), make([]float64, n), make([]bool, n)
		for j := range scores {
			scores[j], weights[j] = 1+float64(random.IntN(3)), 1
			if trial%2 == 1 {
				weights[j] += float64(random.IntN(3))
			}
			if trial%3 == 1 {
				scores[j] = math.Nextafter(1, scores[j])
			}
		}
		threshold := Top(positive, scores, weights, random.Float64(), make([]float64, n))
		tied := slices.Min(scores) == slices.Max(scores)
		if math.IsNaN(threshold) != tied || !slices.Contains(positive, true) || !slices.Contains(positive, false) {
			t.Fatalf("scores %v: labels %v, threshold %v", scores, positive, threshold)
		}
		for j, score := range scores {
			if !tied && positive[j] != (score > threshold) {
				t.Fatalf("scores %v, weights %v: labels %v, threshold %v", scores, weights, positive, threshold)
			}
		}
	}
}

func TestTopOfEqualScoresKeepsTheCount(t *testing.T) {
	positive := make([]bool, 10)
	threshold := Top(positive, make([]float64, 10), slices.Repeat([]float64{1}, 10), 0.3, make([]float64, 10))
	if want := []bool{true, true, true, false, false, false, false, false, false, false}; !slices.Equal(positive, want) {
		t.Errorf("got %v", positive)
	}
	if !math.IsNaN(threshold) {
		t.Errorf("threshold %v, but none parts equal scores", threshold)
	}
}

func TestSwitchWithoutLimitIsTheBestLabeling(t *testing.T) {
	for seed := range uint64(20) {
		g, _ := draw(200, seed)
		positive := make([]bool, len(g))
		for j := range 60 {
			positive[j] = true
		}
		Switch(positive, g, 0)
		cheapest := slices.Sorted(slices.Values(g))[59]
		for j := range g {
			if positive[j] != (g[j] <= cheapest) {
				t.Fatalf("seed %d: row %d is misplaced", seed, j)
			}
		}
		if Switch(positive, g, 0) != 0 {
			t.Errorf("seed %d: a best labeling was switched", seed)
		}
	}
}

func TestSwitchIsLimitedAndTakesTheBestPairsFirst(t *testing.T) {
	g := []float64{5, 3, -4, -1}
	positive := []bool{true, true, false, false}
	if n := Switch(positive, g, 1); n != 1 || !slices.Equal(positive, []bool{false, true, true, false}) {
		t.Errorf("%d pairs, %v", n, positive)
	}
	if n := Switch(positive, g, 1); n != 1 || !slices.Equal(positive, []bool{false, false, true, true}) {
		t.Errorf("%d pairs, %v", n, positive)
	}
}
