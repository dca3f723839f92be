package labeling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

func sharesOf(counts []int) []float64 {
	shares := make([]float64, len(counts))
	for y, count := range counts {
		shares[y] = float64(count)
	}
	return shares
}

func TestCheapestIsTransportWhateverTheStart(t *testing.T) {
	job, random := work.NewJob(1, nil), rand.New(rand.NewPCG(4, 2))
	for seed := range uint64(8) {
		in := topics(500, 3+int(seed), seed)
		want := in.greedy()
		Transport(want, in.costs, in.counts)
		start := make([]int32, in.rows)
		for i := range start {
			start[i] = int32(random.IntN(in.classes()))
		}
		for _, labels := range [][]int32{make([]int32, in.rows), in.greedy(), start} {
			v := Cheapest(job, labels, in.costs, ones(in.rows), sharesOf(in.counts))()
			in.proof(t, labels, v)
			if !slices.Equal(labels, want) {
				t.Fatalf("seed %d: other labels", seed)
			}
		}
	}
}

func TestCheapestPotentialsAreFiniteAndKeepRowsOutOfEmptyClasses(t *testing.T) {
	in := topics(300, 5, 3)
	labels, shares := make([]int32, in.rows), []float64{0.5, 0, 0.3, 0.2, 1e-6}
	v := Cheapest(work.NewJob(1, nil), labels, in.costs, ones(in.rows), shares)()
	for i, y := range labels {
		for z := range shares {
			if z != int(y) && !(in.costs[5*i+z]-v[z] > in.costs[5*i+int(y)]-v[y]) || y == 1 || y == 4 {
				t.Fatalf("row %d has label %d, potentials %v", i, y, v)
			}
		}
	}
}

func TestCheapestOfUnequalWeightsComesNearTheShares(t *testing.T) {
	for seed := range uint64(5) {
		s := topics(2000, 4, seed).softly(seed)
		labels, got, total := make([]int32, s.rows), make([]float64, 4), 0.0
		s.v = Cheapest(work.NewJob(1, nil), labels, s.costs, s.weights, s.shares)()
		s.counts = countsOf(labels, 4)
		s.proof(t, labels, s.v)
		for i, y := range labels {
			got[y] += s.weights[i]
			total += s.weights[i]
		}
		for y, share := range s.shares {
			if math.Abs(got[y]/total-share) > 0.003 {
				t.Errorf("seed %d: class %d has the share %v, should be %v", seed, y, got[y]/total, share)
			}
		}
	}
}

func TestCheapestOfCostsThatAreNotFiniteEnds(t *testing.T) {
	for _, cost := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, m := range []int{2, 3} {
			costs := slices.Repeat([]float64{cost, 1, 2}, 4*m)
			Cheapest(work.NewJob(1, nil), make([]int32, 12), costs, ones(12), ones(m))()
		}
	}
}
