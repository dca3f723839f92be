package labeling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// karp is the smallest mean length of a cycle by the table of shortest walks of every number of arcs (Karp 1978).
func (g *classGraph) karp() float64 {
	m, mean := len(g.live), math.Inf(1)
	walks := [][]float64{make([]float64, m)}
	for k := range m {
		walks = append(walks, slices.Repeat([]float64{math.Inf(1)}, m))
		for i, a := range g.live {
			for j, b := range g.live {
				if i != j {
					walks[k+1][j] = math.Min(walks[k+1][j], walks[k][i]+g.length[a*g.classes+b])
				}
			}
		}
	}
	for b := range m {
		worst := math.Inf(-1)
		for k := range m {
			worst = math.Max(worst, (walks[m][b]-walks[k][b])/float64(m-k))
		}
		if !math.IsInf(walks[m][b], 1) {
			mean = math.Min(mean, worst)
		}
	}
	return mean
}

// shuffled are the instance's class graph with labels dealt out anyhow, of the right counts.
func (in instance) shuffled(seed uint64) *classGraph {
	labels := in.greedy()
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	return newClassGraph(newFrontier(labels, in.costs, in.classes()), in.counts)
}

func TestTheSmallestMeanOfACycleIsThatOfKarp(t *testing.T) {
	for seed := range uint64(60) {
		n := 1 + int(seed*7)%200
		for _, in := range []instance{topics(n, 1+int(seed)%14, seed), whole(n, 6, 5, seed), whole(n, 4, 1, seed)} {
			g := in.shuffled(seed)
			got, want := g.smallestMean(), g.karp()
			if got != want && !(math.Abs(got-want) <= 1e-12) {
				t.Fatalf("seed %d: %v, Karp finds %v", seed, got, want)
			}
		}
	}
}

func TestNoArcIsShorterThanThePotentialsSay(t *testing.T) {
	for seed := range uint64(30) {
		for _, in := range []instance{topics(300, 2+int(seed)%20, seed), whole(200, 7, 4, seed)} {
			g := in.shuffled(seed)
			v, epsilon := g.epsilonOptimal()
			for _, a := range g.live {
				for _, b := range g.live {
					if length := g.length[a*g.classes+b]; a != b && !(v[b]-v[a] <= length+epsilon+1e-12) {
						t.Fatalf("seed %d: from %d to %d %v, and the arc has %v, ε %v", seed, a, b, v[b]-v[a], length, epsilon)
					}
				}
			}
		}
	}
}

// allTriples is switchTriples by looking at every cycle.
func (f *frontier) allTriples() (switched int) {
	for a := range f.classes {
		for b := a + 1; b < f.classes; b++ {
			for c := b + 1; c < f.classes; c++ {
				for f.exchangeCycle(a, b, c) || f.exchangeCycle(a, c, b) {
					switched++
				}
			}
		}
	}
	return switched
}

func TestTriplesAreThoseOfAllCycles(t *testing.T) {
	switched := 0
	for seed := range uint64(30) {
		for _, in := range []instance{topics(400, 3+int(seed)%20, seed), topics(60, 30, seed), whole(150, 9, 40, seed)} {
			labels := in.greedy()
			newFrontier(labels, in.costs, in.classes()).switchPairs(0)
			want := slices.Clone(labels)
			newFrontier(want, in.costs, in.classes()).allTriples()
			switched += newFrontier(labels, in.costs, in.classes()).switchTriples()
			if a, b := in.total(labels), in.total(want); math.Abs(a-b) > 1e-12*(1+math.Abs(b)) {
				t.Fatalf("seed %d: the labels cost %v, by looking at all cycles %v", seed, a, b)
			}
		}
	}
	if switched < 10 {
		t.Errorf("%d exchanges: too few to tell", switched)
	}
}

// Looks at m³ cycles, and m rounds over m² arcs, once took nine tenths of a fit of 1,000 classes on 2,000 rows.
func TestTheWorkOfManyClassesIsThatOfPairsOfClasses(t *testing.T) {
	in := regrets(800, 400)
	labels := in.greedy()
	f, pairs := newFrontier(labels, in.costs, in.classes()), in.classes()*in.classes()
	f.switchPairs(0)
	f.trials = 0
	if f.switchTriples(); f.trials > pairs {
		t.Errorf("%d cycles of three looked at, of %d classes", f.trials, in.classes())
	}
	f.switchPairs(0)
	g := newClassGraph(f, in.counts)
	if g.epsilonOptimal(); g.rounds > 50 {
		t.Errorf("%d rounds over the arcs of %d classes", g.rounds, in.classes())
	}
}
