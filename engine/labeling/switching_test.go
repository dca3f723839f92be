package labeling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCountsSumAndStayWithinOneRowOfTheShare(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for range 300 {
		n, shares, sum := random.IntN(5000), make([]float64, 1+random.IntN(40)), 0.0
		for y := range shares {
			shares[y] = math.Max(0, random.Float64()-0.2)
		}
		shares[0] += 0.1
		for _, s := range shares {
			sum += s
		}
		total := 0
		for y, count := range Counts(shares, n) {
			total += count
			if due := shares[y] / sum * float64(n); math.Abs(float64(count)-due) >= 1+1e-6 || due == 0 && count != 0 {
				t.Fatalf("class %d is due %v rows and gets %d", y, due, count)
			}
		}
		if total != n {
			t.Fatalf("counts sum to %d, should be %d", total, n)
		}
	}
}

func TestEqualRemaindersLeaveOpenWhoGetsARow(t *testing.T) {
	for _, c := range []struct {
		shares      []float64
		n           int
		least, most []int
	}{
		{[]float64{0.25, 0.25, 0.25, 0.25}, 6, []int{1, 1, 1, 1}, []int{2, 2, 2, 2}},
		{[]float64{0.1, 0.3, 0.6}, 5, []int{0, 1, 3}, []int{1, 2, 3}},
		{[]float64{0.29, 0.71}, 100, []int{29, 71}, []int{29, 71}},
		{[]float64{0.2, 0.5, 0.3}, 1, []int{0, 1, 0}, []int{0, 1, 0}},
		{[]float64{0.45, 0.45, 0.1}, 10, []int{4, 4, 1}, []int{5, 5, 1}},
		{[]float64{0, 2, 0, 1}, 3, []int{0, 2, 0, 1}, []int{0, 2, 0, 1}},
		{[]float64{0.7, 0.3}, 0, []int{0, 0}, []int{0, 0}},
		{[]float64{5}, 7, []int{7}, []int{7}},
	} {
		if least, most := bounds(c.shares, c.n); !slices.Equal(least, c.least) || !slices.Equal(most, c.most) {
			t.Errorf("%v of %d rows: from %v to %v, should be from %v to %v", c.shares, c.n, least, most, c.least, c.most)
		}
	}
}

func TestGreedyKeepsTheCounts(t *testing.T) {
	for seed := range uint64(60) {
		for _, in := range []instance{topics(int(seed*7), 1+int(seed)%9, seed), whole(int(seed*3), 6, 3, seed)} {
			if got := in.countsOf(in.greedy()); !slices.Equal(got, in.counts) {
				t.Fatalf("seed %d: counts %v, should be %v", seed, got, in.counts)
			}
		}
	}
}

func TestGreedyGivesWayWhereItCostsLeast(t *testing.T) {
	// All three rows ask for class 0, which has room for one: the row with most to lose keeps it.
	in := instance{[]float64{0, 1, 5, 0, 4, 5, 0, 2, 9}, []int{1, 1, 1}, 3}
	if got := in.greedy(); !slices.Equal(got, []int32{1, 2, 0}) {
		t.Errorf("labels %v", got)
	}
	free := instance{[]float64{3, 1, 2, 1, 2, 3}, []int{1, 1, 0}, 2} // room for every wish
	if got := free.greedy(); !slices.Equal(got, []int32{1, 0}) {
		t.Errorf("labels %v", got)
	}
}

// helpful is the largest gain of an exchange of two labels, by trying every pair of rows.
func (in instance) helpful(labels []int32) float64 {
	best, m := 0.0, in.classes()
	for i, a := range labels {
		for j, b := range labels[:i] {
			cost := func(row int, class int32) float64 { return in.costs[row*m+int(class)] }
			best = math.Max(best, cost(i, a)+cost(j, b)-cost(i, b)-cost(j, a))
		}
	}
	return best
}

func TestSwitchLeavesNoHelpfulPair(t *testing.T) {
	for seed := range uint64(24) {
		for _, in := range []instance{topics(300, 7, seed), whole(300, 7, 5, seed), whole(200, 3, 1, seed)} {
			for _, most := range []int{0, 1, 10} {
				labels := in.greedy()
				rand.New(rand.NewPCG(seed, 1)).Shuffle(len(labels), func(i, j int) {
					labels[i], labels[j] = labels[j], labels[i]
				})
				before := in.total(labels)
				switched := Switch(labels, in.costs, in.classes(), most)
				if gain := in.helpful(labels); gain > 1e-12 {
					t.Fatalf("seed %d, most %d: an exchange would still gain %v", seed, most, gain)
				}
				if !slices.Equal(in.countsOf(labels), in.counts) {
					t.Fatalf("seed %d, most %d: the counts changed", seed, most)
				}
				if after := in.total(labels); (switched > 0) != (after < before) {
					t.Fatalf("seed %d, most %d: %d exchanges, cost from %v to %v", seed, most, switched, before, after)
				}
				if Switch(labels, in.costs, in.classes(), most) != 0 {
					t.Errorf("seed %d, most %d: a second call switches again", seed, most)
				}
			}
		}
	}
}

// SwitchPair makes the exchange that gains most, and none where none helps.
func TestSwitchPairMakesTheBestExchange(t *testing.T) {
	for seed := range uint64(24) {
		for _, in := range []instance{topics(80, 7, seed), whole(80, 2, 5, seed), whole(60, 3, 1, seed)} {
			labels := in.greedy()
			rand.New(rand.NewPCG(seed, 1)).Shuffle(len(labels), func(i, j int) {
				labels[i], labels[j] = labels[j], labels[i]
			})
			for range 500 {
				best, before, old := in.helpful(labels), in.total(labels), slices.Clone(labels)
				SwitchPair(labels, in.costs, in.classes())
				changed := 0
				for i := range labels {
					if labels[i] != old[i] {
						changed++
					}
				}
				if gain := before - in.total(labels); math.Abs(gain-best) > 1e-9 || changed != 2 && best > 1e-9 {
					t.Fatalf("seed %d: an exchange of %d labels gains %v, the best %v", seed, changed, gain, best)
				}
				if changed == 0 {
					break
				}
			}
			if best := in.helpful(labels); best > 1e-9 || !slices.Equal(in.countsOf(labels), in.counts) {
				t.Errorf("seed %d: an exchange would still gain %v, or the counts changed", seed, best)
			}
		}
	}
}

func TestSwitchEndsNearTheOptimum(t *testing.T) {
	for _, size := range [][2]int{{5581, 10}, {4000, 40}} {
		in := regrets(size[0], size[1])
		labels, best := in.greedy(), in.greedy()
		Switch(labels, in.costs, in.classes(), 0)
		Transport(best, in.costs, in.counts)
		if ratio := in.total(labels) / in.total(best); !(ratio >= 1-1e-12 && ratio <= 1.02) {
			t.Errorf("%d rows, %d classes: %v times the optimum", size[0], size[1], ratio)
		}
	}
}

func TestSwitchDoesNotTurnInCirclesOnRounding(t *testing.T) {
	// Costs of very different size: differences of costs do not add up exactly.
	random := rand.New(rand.NewPCG(9, 1))
	for range 30 {
		in := topics(60, 5, random.Uint64())
		for k := range in.costs {
			in.costs[k] = math.Round(in.costs[k]) * 0.1
		}
		for i := range in.rows {
			shift := math.Ldexp(random.NormFloat64(), random.IntN(50))
			for y := range in.classes() {
				in.costs[i*in.classes()+y] += shift
			}
		}
		Switch(in.greedy(), in.costs, in.classes(), 0)
	}
}

func TestFrontierFindsTheCheapestMoverAfterAnyMoves(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 1))
	for seed := range uint64(6) {
		in := whole(900, 4, 1+int(seed)*300, seed)
		labels := in.greedy()
		f, m := newFrontier(labels, in.costs, in.classes()), in.classes()
		for range 700 {
			a, b := random.IntN(m), random.IntN(m)
			want := math.Inf(1)
			for i, y := range labels {
				if a != b && int(y) == a {
					want = math.Min(want, in.costs[i*m+b]-in.costs[i*m+a])
				}
			}
			if a == b {
				continue
			}
			top := f.cheapest(a, b)
			ok := top.row >= 0
			if ok != !math.IsInf(want, 1) || top.key != want || ok && labels[top.row] != int32(a) {
				t.Fatalf("from %d to %d: %v, should cost %v", a, b, top, want)
			}
			if ok && random.IntN(3) > 0 {
				f.move(top.row, b)
			} else {
				f.move(int32(random.IntN(in.rows)), random.IntN(m))
			}
		}
	}
}
