package labeling

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// instance is a labeling problem for tests: costs [rows, classes] and counts.
type instance struct {
	costs  []float64
	counts []int
	rows   int
}

func (in instance) classes() int { return len(in.counts) }

// topics draws rows of planted topics: the score of a row is N(0, 1) for each class plus 2 for its topic, topics have
// shares proportional to 1 / rank, a class has an offset N(0, 1) on its scores, and the cost of a label is minus the
// score. The counts follow the topics; offsets make argmin miss them by far.
func topics(n, m int, seed uint64) instance {
	random := rand.New(rand.NewPCG(seed, 7))
	shares, offsets, sum := make([]float64, m), make([]float64, m), 0.0
	for y := range m {
		shares[y], offsets[y] = 1/float64(y+1), random.NormFloat64()
		sum += shares[y]
	}
	in := instance{costs: make([]float64, n*m), counts: Counts(shares, n), rows: n}
	for i := range n {
		topic, left := 0, random.Float64()*sum
		for left -= shares[0]; left > 0 && topic < m-1; left -= shares[topic] {
			topic++
		}
		for y := range m {
			in.costs[i*m+y] = -random.NormFloat64() - offsets[y]
		}
		in.costs[i*m+topic] -= 2
	}
	return in
}

// whole draws whole costs 0 ... span-1, with many ties, and random counts, some of them zero.
func whole(n, m, span int, seed uint64) instance {
	random := rand.New(rand.NewPCG(seed, 11))
	in := instance{costs: make([]float64, n*m), rows: n}
	for k := range in.costs {
		in.costs[k] = float64(random.IntN(span))
	}
	shares := make([]float64, m)
	for y := range m {
		shares[y] = math.Max(0, random.Float64()-0.3)
	}
	shares[random.IntN(m)] = 0.5
	in.counts = Counts(shares, n)
	return in
}

func (in instance) greedy() []int32 {
	return greedy(in.costs, in.counts, in.rows)
}

func (in instance) total(labels []int32) float64 { return Total(labels, in.costs, in.classes()) }

func (in instance) countsOf(labels []int32) []int { return countsOf(labels, in.classes()) }

// bestByTrial is the smallest total of all labelings with the counts, found by trying every one.
func (in instance) bestByTrial() float64 {
	room := append([]int(nil), in.counts...)
	best := math.Inf(1)
	var try func(i int, total float64)
	try = func(i int, total float64) {
		if i == in.rows {
			best = math.Min(best, total)
			return
		}
		for y := range room {
			if room[y] > 0 {
				room[y]--
				try(i+1, total+in.costs[i*in.classes()+y])
				room[y]++
			}
		}
	}
	try(0, 0)
	return best
}

// Transport is transport with the potentials.
func Transport(labels []int32, costs []float64, counts []int) (potentials []float64) {
	return transport(labels, costs, counts, counts).centred()
}

// greedy are labels with these counts: the cheapest ones, changed where that costs least.
func greedy(costs []float64, counts []int, rows int) []int32 {
	labels := make([]int32, rows)
	for i := range labels {
		labels[i] = int32(floats.MinIdx(costs[i*len(counts) : (i+1)*len(counts)]))
	}
	newFrontier(labels, costs, len(counts)).keepBounds(counts, counts)
	return labels
}

// Counts are some within the bounds.
func Counts(shares []float64, n int) []int {
	least, most := bounds(shares, n)
	return within(least, most, n)
}

// Total is the cost of a labeling: Σ c_iy over the rows i with their labels y.
func Total(labels []int32, costs []float64, classes int) float64 {
	total := 0.0
	for i, y := range labels {
		total += costs[i*classes+int(y)]
	}
	return total
}

// within are counts that sum to n: the first classes get more than their least rows.
func within(least, most []int, n int) []int {
	counts, left := slices.Clone(least), n
	for _, count := range least {
		left -= count
	}
	for y := range counts {
		more := min(left, most[y]-least[y])
		counts[y] += more
		left -= more
	}
	return counts
}

func contains(least, most, counts []int) bool {
	for y, count := range counts {
		if count < least[y] || count > most[y] {
			return false
		}
	}
	return true
}
