package labeling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// onMachines finds labels and potentials on several machines, each with some of the rows; of three and more the second
// has none.
func onMachines(
	t *testing.T, size int, costs, weights, shares []float64,
) (labels []int32, potentials []float64) {
	t.Helper()
	m, ranks := len(shares), worktest.NewRanks(size)
	labels = make([]int32, len(weights))
	found := make([][]float64, size)
	first, end := make([]int, size), make([]int, size) // contiguous, so that the first rows are those of one machine
	for k, left := 0, 0; k < size; k++ {
		first[k] = left
		if end[k] = (k + 1) * len(weights) / size; size >= 3 && k == 1 {
			end[k] = left
		}
		left = end[k]
	}
	ranks.Run(t, func(rank int) {
		job := work.NewJob(1, nil)
		job.Group = &work.Group{Rank: rank, Size: size, Sum: func(v []float64) error { return ranks.Sum(rank, v) }}
		lo, hi := first[rank], end[rank]
		found[rank] = Cheapest(job, labels[lo:hi], costs[lo*m:hi*m], weights[lo:hi], shares)()
		again := make([]int32, hi-lo)
		Cheapest(job, again, costs[lo*m:hi*m], weights[lo:hi], shares)
		if !slices.Equal(again, labels[lo:hi]) {
			t.Error("without potentials there are other labels")
		}
	})
	for _, p := range found {
		if !slices.Equal(p, found[0]) {
			t.Errorf("potentials %v and %v", p, found[0])
		}
	}
	return labels, found[0]
}

func equalWeights(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// Two classes: costs with many ties and without, equal and unequal weights.
func TestMachinesFindTheThresholdOfOne(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for trial := range 300 {
		n := 2 + random.IntN(60)
		costs, weights := make([]float64, 2*n), equalWeights(n)
		span := []float64{2, 5, 1e9}[trial%3]
		for k := range costs {
			costs[k] = math.Floor(random.Float64()*span) - span/2
		}
		if trial%2 == 1 {
			for i := range weights {
				weights[i] = float64(1+random.IntN(4)) / 64
			}
		}
		share := 0.02 + 0.96*random.Float64()
		if trial%5 == 0 {
			share = (0.5 + float64(random.IntN(n))) / float64(n) // two counts are as near
		}
		want := make([]int32, n)
		potentials := Cheapest(work.NewJob(1, nil), want, costs, weights, []float64{1 - share, share})()
		if least, most := bracket(work.NewJob(1, nil), costs, 1, 0.5); most-least < 1e-3 && trial%2 == 1 {
			continue // all keys are equal: any labels will do
		}
		for _, size := range []int{1, 2, 3, 5} {
			got, v := onMachines(t, size, costs, weights, []float64{1 - share, share})
			if !slices.Equal(got, want) || !slices.Equal(v, potentials) {
				t.Fatalf("trial %d, %d rows, %d machines: potentials %v, of one %v", trial, n, size, v, potentials)
			}
		}
	}
}

// Where all rows cost the same the first ones get label 1, whichever machine has them.
func TestMachinesLabelTheFirstOfEqualRows(t *testing.T) {
	const n = 40
	for _, ones := range []int{1, 13, 27, 39} {
		share := float64(ones) / n
		for _, size := range []int{1, 2, 3, 5} {
			labels, v := onMachines(t, size, make([]float64, 2*n), equalWeights(n), []float64{1 - share, share})
			for i, y := range labels {
				if (y == 1) != (i < ones) {
					t.Fatalf("%d machines: row %d of %d with label 1 has label %d", size, i, ones, y)
				}
			}
			if margin := v[1] - v[0]; math.Abs(margin) != 2 || (margin > 0) != (share >= 0.5) {
				t.Errorf("%d machines, share %v: potentials %v", size, share, v)
			}
		}
	}
}

// Many classes: labels and potentials of one machine to the bit, with ties, unequal weights, and classes without rows.
func TestMachinesFindTheCheapestLabelsOfOne(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for seed := range uint64(61) {
		in := topics(50+int(seed)*40, 3+int(seed%5), seed)
		if seed >= 20 && seed < 60 {
			in = whole(10+int(seed), 4, 2+int(seed%3), seed-20)
		}
		weights := equalWeights(in.rows)
		for i := range weights {
			if seed == 60 {
				weights[i] *= 0.5 + random.Float64()
			}
		}
		shares, want := sharesOf(in.counts), make([]int32, in.rows)
		potentials := Cheapest(work.NewJob(1, nil), want, in.costs, weights, shares)()
		for _, size := range []int{1, 2, 3, 5} {
			got, v := onMachines(t, size, in.costs, weights, shares)
			if !slices.Equal(got, want) || !slices.Equal(v, potentials) {
				t.Fatalf("seed %d, %d machines: cost %v for %v, potentials %v for %v", seed, size, in.total(got),
					in.total(want), v, potentials)
			}
		}
	}
}

// Every row stands there twice, and some pairs get two labels: no row is at a border by the potentials.
func TestCopiesAreAtNoBorder(t *testing.T) {
	for seed := range uint64(20) {
		one := topics(60+int(seed)*20, 3+int(seed%4), seed)
		m, costs, counts := one.classes(), []float64(nil), slices.Clone(one.counts)
		for i := range one.rows {
			costs = append(append(costs, one.costs[i*m:(i+1)*m]...), one.costs[i*m:(i+1)*m]...)
		}
		for y := range counts {
			counts[y] *= 2
		}
		counts[0], counts[1] = counts[0]-1, counts[1]+1
		shares, weights := sharesOf(counts), equalWeights(2*one.rows)
		v := Cheapest(work.NewJob(1, nil), make([]int32, 2*one.rows), costs, weights, shares)()
		least := math.Inf(1)
		for i := range one.rows {
			reduced := slices.Clone(one.costs[i*m : (i+1)*m])
			vector.Add(reduced, -1, v)
			slices.Sort(reduced)
			least = min(least, reduced[1]-reduced[0])
		}
		if least < 1e-9 {
			t.Errorf("seed %d: a row is %v from a border", seed, least)
		}
	}
}
