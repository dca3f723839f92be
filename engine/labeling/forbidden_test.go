package labeling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

// forbid makes about half of the costs infinite, and leaves every row a class that has a count.
func (in instance) forbid(seed uint64) instance {
	random, m := rand.New(rand.NewPCG(seed, 13)), in.classes()
	in.costs = slices.Clone(in.costs)
	for i := range in.rows {
		kept := random.IntN(m)
		for in.counts[kept] == 0 {
			kept = (kept + 1) % m
		}
		for y := range m {
			if y != kept && random.IntN(5) < 3 {
				in.costs[i*m+y] = math.Inf(1)
			}
		}
	}
	return in
}

// The cheapest labels with forbidden classes are those found by trying all; where every labeling breaks a prohibition
// they break as few as any.
func TestCheapestLabelsKeepToAllowedClasses(t *testing.T) {
	job, feasible := work.NewJob(1, nil), 0
	for seed := range uint64(300) {
		in := whole(7, 3+int(seed%2), 5, seed).forbid(seed)
		broken := in
		broken.costs = make([]float64, len(in.costs))
		for k, c := range in.costs {
			if math.IsInf(c, 1) {
				broken.costs[k] = 1
			}
		}
		costs, labels := slices.Clone(in.costs), make([]int32, in.rows)
		Finite(job, costs, in.classes())
		Cheapest(job, labels, costs, ones(in.rows), sharesOf(in.counts))
		if best := in.bestByTrial(); !math.IsInf(best, 1) {
			feasible++
			if got := in.total(labels); got != best {
				t.Errorf("seed %d: %v, the best is %v", seed, got, best)
			}
		} else if got, least := broken.total(labels), broken.bestByTrial(); got != least {
			t.Errorf("seed %d: %v forbidden labels, the fewest are %v", seed, got, least)
		}
		if !slices.Equal(in.countsOf(labels), in.counts) {
			t.Errorf("seed %d: counts %v, want %v", seed, in.countsOf(labels), in.counts)
		}
	}
	if feasible < 50 || feasible > 250 {
		t.Errorf("%d of 300 have allowed labels: too few of one kind to test", feasible)
	}
}

// Soft labels of forbidden classes are 0, class shares are kept, and as T falls the labels become the cheapest ones.
func TestSoftLabelsKeepToAllowedClasses(t *testing.T) {
	job := work.NewJob(1, nil)
	for seed := range uint64(20) {
		in := topics(400, 4, seed).forbid(seed)
		weights, potentials := equalWeights(400), make([]float64, 4)
		shares, soft, means := []float64{0.3, 0.3, 0.2, 0.2}, make([]float64, len(in.costs)), make([]float64, 4)
		for _, temperature := range []float64{1, 0.01} {
			SoftLabels(job, soft, in.costs, weights, shares, potentials, temperature, Exact)
		}
		total := 0.0
		for k, q := range soft {
			means[k%4] += q / 400
			if math.IsInf(in.costs[k], 1) {
				if q != 0 {
					t.Fatalf("seed %d: a forbidden class has the soft label %v", seed, q)
				}
				continue
			}
			total += q * in.costs[k] / 400
		}
		for y, share := range shares {
			if math.Abs(means[y]-share) > 1e-7 {
				t.Errorf("seed %d: class %d has the share %v, want %v", seed, y, means[y], share)
			}
		}
		costs, labels := slices.Clone(in.costs), make([]int32, 400)
		Finite(job, costs, 4)
		Cheapest(job, labels, costs, weights, shares)
		if best := Total(labels, costs, 4) / 400; total < best-1e-9 || total > best+0.01*math.Log(4) {
			t.Errorf("seed %d: soft labels cost %v, hard ones %v", seed, total, best)
		}
	}
}
