package labeling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

// ofTwo are costs of two classes with these costs of class 1 beyond class 0.
func ofTwo(g []float64, seed uint64) []float64 {
	random, costs := rand.New(rand.NewPCG(seed, 2)), make([]float64, 2*len(g))
	for i := range g {
		costs[2*i] = float64(random.IntN(3))
		costs[2*i+1] = costs[2*i] + g[i]
	}
	return costs
}

// cheapestOfTwo are labels and ν for given scores of class 1.
func cheapestOfTwo(scores, weights []float64, share float64) (labels []int32, nu float64) {
	costs := make([]float64, 2*len(scores))
	for i, f := range scores {
		costs[2*i+1] = -f
	}
	labels = make([]int32, len(scores))
	v := Cheapest(work.NewJob(1, nil), labels, costs, weights, []float64{1 - share, share})()
	return labels, v[1] - v[0]
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

func TestSoftOfTwoClassesKeepsTheShareAndItsClosedForm(t *testing.T) {
	job, in := work.NewJob(2, nil), topics(5000, 2, 4)
	weights := in.softly(4).weights
	for _, temperature := range []float64{100, 1, 1e-2, 1e-6} {
		for _, share := range []float64{0.5, 0.26, 0.003} {
			p, v := make([]float64, 2*in.rows), []float64{math.NaN(), math.Inf(-1)}
			SoftLabels(job, p, in.costs, weights, []float64{3 * (1 - share), 3 * share}, v, temperature, Exact)
			total, positive, nu := 0.0, 0.0, v[1]-v[0]
			for i, s := range weights {
				z := (in.costs[2*i+1] - in.costs[2*i] - nu) / temperature
				want, rest := 1/(1+math.Exp(z)), 1/(1+math.Exp(-z))
				if math.Abs(p[2*i+1]-want) > 1e-12*want+1e-300 || math.Abs(p[2*i]-rest) > 1e-12*rest+1e-300 {
					t.Fatalf("p of row %d is %v, should be %v", i, p[2*i:2*i+2], want)
				}
				total += s
				positive += s * want
			}
			if math.Abs(positive/total-share) > 1.01e-10 && temperature > 1e-6 || v[0] != -v[1] {
				t.Errorf("T = %v: the share is %v, should be %v; potentials %v", temperature, positive/total, share, v)
			}
		}
	}
}

func TestCheapestOfTwoClassesTakesTheShareByWeight(t *testing.T) {
	scores := []float64{0.1, 0.9, -0.5, 0.4}
	labels, nu := cheapestOfTwo(scores, ones(4), 0.5)
	if !slices.Equal(labels, []int32{0, 1, 0, 1}) || nu != -0.25 {
		t.Errorf("got %v, potentials differ by %v", labels, nu)
	}
	labels, _ = cheapestOfTwo(scores, []float64{1, 2, 1, 1}, 0.4) // the row of weight 2 has 2 of 5 already
	if !slices.Equal(labels, []int32{0, 1, 0, 0}) {
		t.Errorf("weighted: got %v", labels)
	}
	for _, share := range []float64{1e-9, 1 - 1e-9} { // a row for either side, whatever the share
		labels, _ = cheapestOfTwo(scores, ones(4), share)
		if !slices.Contains(labels, 1) || !slices.Contains(labels, 0) {
			t.Errorf("share %v: got %v", share, labels)
		}
	}
}

// bestThreshold is the answer by trying every threshold: rows with score at or above it, by weight nearest to the
// share, the higher one of equals.
func bestThreshold(scores, weights []float64, share float64) []int32 {
	best, nearest, total := []int32(nil), math.Inf(1), 0.0
	for _, s := range weights {
		total += s
	}
	thresholds := slices.Sorted(slices.Values(scores))
	for _, threshold := range slices.Backward(thresholds) {
		labels, weight := make([]int32, len(scores)), 0.0
		for i, f := range scores {
			if f >= threshold {
				labels[i] = 1
				weight += weights[i]
			}
		}
		if distance := math.Abs(weight - share*total); distance < nearest && slices.Contains(labels, 0) {
			best, nearest = labels, distance
		}
	}
	return best
}

// Labels are the nearest cut, and the potentials say the same, for ties, weights and neighboring numbers as well.
func TestCheapestOfTwoClassesIsTheNearestCut(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for trial := range 4000 {
		n := 2 + random.IntN(8)
		scores, weights := make([]float64, n), ones(n)
		for j := range scores {
			scores[j] = 1 + float64(random.IntN(3))
			if trial%2 == 1 {
				weights[j] += float64(random.IntN(3))
			}
			if trial%3 == 1 {
				scores[j] = math.Nextafter(1, scores[j])
			}
			if trial%3 == 2 {
				scores[j] = random.NormFloat64()
			}
		}
		if slices.Min(scores) == slices.Max(scores) {
			continue
		}
		share := 0.01 + 0.98*random.Float64()
		labels, nu := cheapestOfTwo(scores, weights, share)
		if want := bestThreshold(scores, weights, share); !slices.Equal(labels, want) {
			t.Fatalf("scores %v, weights %v, share %v: labels %v, should be %v", scores, weights, share, labels, want)
		}
		for j, score := range scores {
			if (labels[j] == 1) != (score > -nu) {
				t.Fatalf("scores %v, weights %v: labels %v, threshold %v", scores, weights, labels, -nu)
			}
		}
	}
}

func TestCheapestOfEqualRowsKeepsTheCount(t *testing.T) {
	for share, want := range map[float64]float64{0.3: -2, 0.5: 2, 0.7: 2} {
		labels, nu := cheapestOfTwo(slices.Repeat([]float64{5}, 10), ones(10), share)
		first := make([]int32, 10)
		for i := range int(10*share + 0.5) {
			first[i] = 1
		}
		if !slices.Equal(labels, first) || nu != -5+want {
			t.Errorf("share %v: got %v, potentials differ by %v", share, labels, nu)
		}
	}
	if labels, nu := cheapestOfTwo([]float64{3}, ones(1), 0.8); labels[0] != 0 || nu != -1 {
		t.Errorf("one row: got %v, potentials differ by %v", labels, nu)
	}
	if labels, nu := cheapestOfTwo(nil, nil, 0.8); len(labels) != 0 || nu != 0 {
		t.Errorf("no rows: potentials differ by %v", nu)
	}
}

func TestSwitchOfTwoClassesIsTheBestLabeling(t *testing.T) {
	for seed := range uint64(20) {
		random, g, labels := rand.New(rand.NewPCG(seed, 2)), make([]float64, 200), make([]int32, 200)
		for i := range g {
			g[i] = 4 * random.NormFloat64()
			if i < 60 {
				labels[i] = 1
			}
		}
		costs := ofTwo(g, seed)
		Switch(labels, costs, 2, 0)
		cheapest := slices.Sorted(slices.Values(g))[59]
		for i := range g {
			if (labels[i] == 1) != (g[i] <= cheapest) {
				t.Fatalf("seed %d: row %d is misplaced", seed, i)
			}
		}
		if Switch(labels, costs, 2, 0) != 0 {
			t.Errorf("seed %d: a best labeling was switched", seed)
		}
	}
}

func TestSwitchOfTwoClassesIsLimitedAndTakesTheBestPairsFirst(t *testing.T) {
	costs, labels := ofTwo([]float64{5, 3, -4, -1}, 1), []int32{1, 1, 0, 0}
	if n := Switch(labels, costs, 2, 1); n != 1 || !slices.Equal(labels, []int32{0, 1, 1, 0}) {
		t.Errorf("%d pairs, %v", n, labels)
	}
	if n := Switch(labels, costs, 2, 1); n != 1 || !slices.Equal(labels, []int32{0, 0, 1, 1}) {
		t.Errorf("%d pairs, %v", n, labels)
	}
}
