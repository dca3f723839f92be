package labeling

import (
	"math"
	"slices"
	"testing"
)

// proof checks, from nothing but costs, counts and the answer, that labels are an optimum: the counts are met and every
// row has a label with the least c - v. It returns the total that the dual promises.
func (in instance) proof(t *testing.T, labels []int32, v []float64) (promised float64) {
	t.Helper()
	if !slices.Equal(in.countsOf(labels), in.counts) {
		t.Fatalf("counts %v, should be %v", in.countsOf(labels), in.counts)
	}
	m, size := in.classes(), 0.0
	for _, c := range in.costs {
		size = math.Max(size, math.Abs(c))
	}
	for i, y := range labels {
		least := math.Inf(1)
		for z, c := range in.costs[i*m : (i+1)*m] {
			least = math.Min(least, c-v[z])
		}
		if own := in.costs[i*m+int(y)] - v[y]; !(own <= least+1e-11*size) {
			t.Fatalf("row %d: its label costs %v, another %v", i, own, least)
		}
		promised += least
	}
	for y, count := range in.counts {
		if count > 0 {
			promised += float64(count) * v[y]
		} else if !math.IsInf(v[y], -1) {
			t.Fatalf("class %d gets no rows and has potential %v", y, v[y])
		}
	}
	if total := in.total(labels); math.Abs(promised-total) > 1e-9*(1+math.Abs(total)) {
		t.Fatalf("the dual promises %v, the labels cost %v", promised, total)
	}
	return promised
}

func TestTransportFindsTheBestOfAllLabelings(t *testing.T) {
	for seed := range uint64(40) {
		n, m := int(seed%9), 1+int(seed)%4
		for _, in := range []instance{topics(n, m, seed), whole(n, m, 3, seed), whole(n, m, 1, seed)} {
			want := in.bestByTrial()
			labels := in.greedy()
			v := Transport(labels, in.costs, in.counts)
			in.proof(t, labels, v)
			if got := in.total(labels); math.Abs(got-want) > 1e-12 {
				t.Fatalf("seed %d: Transport %v, should be %v", seed, got, want)
			}
		}
	}
}

func TestRowsThatEqualRemaindersLeaveGoWhereTheyCostLeast(t *testing.T) {
	for seed := range uint64(60) {
		n, m := 1+int(seed%8), 2+int(seed)%4
		shares := slices.Repeat([]float64{1}, m)
		shares[0] += float64(seed % 3)
		least, most := bounds(shares, n)
		for _, in := range []instance{topics(n, m, seed), whole(n, m, 3, seed), whole(n, m, 1, seed)} {
			want := math.Inf(1)
			for open := range 1 << m { // the classes that get a row more
				in.counts = slices.Clone(least)
				total := 0
				for y := range m {
					if open>>y&1 == 1 {
						in.counts[y] = most[y]
					}
					total += in.counts[y]
				}
				if total == n {
					want = min(want, in.bestByTrial())
				}
			}
			in.counts = within(least, most, n)
			labels := in.greedy()
			v := transport(labels, in.costs, least, most).centred()
			if in.counts = in.countsOf(labels); !contains(least, most, in.counts) {
				t.Fatalf("seed %d: counts %v, should be from %v to %v", seed, in.counts, least, most)
			}
			in.proof(t, labels, v)
			if got := in.total(labels); math.Abs(got-want) > 1e-12 {
				t.Fatalf("seed %d: transport %v, should be %v", seed, got, want)
			}
		}
	}
}

func TestTransportIsAnOptimum(t *testing.T) {
	for seed := range uint64(4) {
		for _, in := range []instance{
			topics(600, 12, seed), topics(900, 2, seed), topics(100, 40, seed), whole(700, 8, 4, seed),
			whole(500, 5, 1000, seed), whole(300, 6, 1, seed),
		} {
			labels := in.greedy()
			v := Transport(labels, in.costs, in.counts)
			in.proof(t, labels, v)
		}
	}
}

func TestTransportOnALargeProblem(t *testing.T) {
	for _, in := range []instance{topics(60000, 7, 1), topics(5000, 60, 2), whole(30000, 10, 6, 3)} {
		labels := in.greedy()
		Switch(labels, in.costs, in.classes(), 0)
		switched := in.total(labels)
		v := Transport(labels, in.costs, in.counts)
		in.proof(t, labels, v)
		if switched < in.total(labels)-1e-9*math.Abs(switched) {
			t.Errorf("switching %v is better than the optimum %v", switched, in.total(labels))
		}
		again := slices.Clone(labels)
		if Transport(again, in.costs, in.counts); !slices.Equal(again, labels) {
			t.Errorf("an optimum of %d rows was changed", in.rows)
		}
	}
}

func TestTwoClassesSwitchingIsAnOptimum(t *testing.T) {
	for seed := range uint64(20) {
		for _, in := range []instance{topics(300, 2, seed), whole(300, 2, 4, seed)} {
			labels := in.greedy()
			slices.Reverse(labels)
			Switch(labels, in.costs, 2, 0)
			best := in.greedy()
			Transport(best, in.costs, in.counts)
			if got, want := in.total(labels), in.total(best); math.Abs(got-want) > 1e-10 {
				t.Fatalf("seed %d: %v, should be %v", seed, got, want)
			}
		}
	}
}

func TestTransportGoesOnWhereSwitchingStops(t *testing.T) {
	// Every row would like the next class; no two or three of them can exchange.
	in := instance{[]float64{1, 0, 5, 5, 5, 1, 0, 5, 5, 5, 1, 0, 0, 5, 5, 1}, []int{1, 1, 1, 1}, 4}
	labels := []int32{0, 1, 2, 3}
	if Switch(labels, in.costs, 4, 0) != 0 {
		t.Fatalf("switching found an exchange")
	}
	v := Transport(labels, in.costs, in.counts)
	in.proof(t, labels, v)
	if !slices.Equal(labels, []int32{1, 2, 3, 0}) {
		t.Errorf("labels %v", labels)
	}
}

func TestPotentialsLieInTheMiddle(t *testing.T) {
	// c_1 - c_0 is -3 and -1 in class 1, 2 and 6 in class 0: v_1 - v_0 may be anything from -1 to 2.
	in := instance{[]float64{0, -3, 0, 6, 0, -1, 0, 2}, []int{2, 2}, 4}
	v := Transport(in.greedy(), in.costs, in.counts)
	if !slices.Equal(v, []float64{-0.25, 0.25}) {
		t.Errorf("potentials %v", v)
	}
	// Where costs are drawn the optimum is the only one: no label may hang on a rounding error.
	for seed := range uint64(10) {
		in := topics(800, 11, seed)
		labels, m := in.greedy(), in.classes()
		v := Transport(labels, in.costs, in.counts)
		for i, y := range labels {
			for z := range m {
				if z != int(y) && !(in.costs[i*m+z]-v[z]-in.costs[i*m+int(y)]+v[y] > 1e-9) {
					t.Fatalf("seed %d: row %d has a tie", seed, i)
				}
			}
		}
	}
}

func TestNoRowsAndOneRowAndOneClass(t *testing.T) {
	for _, in := range []instance{
		{nil, []int{0, 0, 0}, 0},
		{[]float64{3, 2, 1}, []int{1, 0, 0}, 1},
		{[]float64{3, 2, 1}, []int{3}, 3},
	} {
		labels := in.greedy()
		Switch(labels, in.costs, in.classes(), 0)
		v := Transport(labels, in.costs, in.counts)
		in.proof(t, labels, v)
	}
}
