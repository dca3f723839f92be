package sequence

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// drawn makes a chain and unary scores; forbid is the chance that a transition is forbidden; ties draws few values.
func drawn(random *rand.Rand, tags, tokens int, scale, forbid float64, ties bool) (*chain, []float64) {
	number := func() float64 {
		if ties {
			return float64(random.IntN(3))
		}
		return scale * random.NormFloat64()
	}
	c, unary := newChain(tags, nil), make([]float64, tokens*tags)
	c.allowed = evenTags(tags)
	for _, part := range [][]float64{c.all, unary} {
		for k := range part {
			part[k] = number()
		}
	}
	for k := range c.pair {
		if random.Float64() < forbid {
			c.pair[k] = math.Inf(-1)
		}
	}
	c.refresh()
	return c, unary
}

// eachPath calls visit for every path.
func eachPath(tags, tokens int, visit func(path []int32)) {
	path := make([]int32, tokens)
	for {
		visit(path)
		t := tokens - 1
		for ; t >= 0 && int(path[t]) == tags-1; t-- {
			path[t] = 0
		}
		if t < 0 {
			return
		}
		path[t]++
	}
}

// eachChain tries all sizes, with scores of several kinds.
func eachChain(t *testing.T, try func(t *testing.T, random *rand.Rand, c *chain, unary []float64, ties bool)) {
	for tags := 1; tags <= 4; tags++ {
		for tokens := 1; tokens <= 6; tokens++ {
			random := rand.New(rand.NewPCG(uint64(tags), uint64(tokens)))
			for _, kind := range []struct {
				scale, forbid float64
				ties          bool
			}{{1, 0, false}, {1, 0.4, false}, {0, 0, true}, {0, 0.3, true}, {2000, 0, false}, {500, 0.4, false}} {
				for range 3 {
					c, unary := drawn(random, tags, tokens, kind.scale, kind.forbid, kind.ties)
					try(t, random, c, unary, kind.ties)
				}
			}
		}
	}
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-11*max(1, math.Abs(a), math.Abs(b))
}

func TestBestPathsAreThoseOfEnumeration(t *testing.T) {
	eachChain(t, func(t *testing.T, _ *rand.Rand, c *chain, unary []float64, ties bool) {
		tokens, l := len(unary)/c.tags, &lattice{}
		var scores []float64
		eachPath(c.tags, tokens, func(path []int32) { scores = append(scores, c.score(unary, path)) })
		slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
		scores = append(scores, math.Inf(-1))
		best, second := make([]int32, tokens), make([]int32, tokens)
		if score := c.best(l, unary, best); !near(score, scores[0]) {
			t.Fatalf("best path has %v, should have %v", score, scores[0])
		}
		if !math.IsInf(scores[0], -1) && !near(c.score(unary, best), scores[0]) {
			t.Fatalf("path %v has %v, should have %v", best, c.score(unary, best), scores[0])
		}
		viterbi := slices.Clone(best)
		first, runnerUp := c.twoBest(l, unary, best, second)
		if !near(first, scores[0]) || !near(runnerUp, scores[1]) {
			t.Fatalf("two best have %v and %v, should have %v and %v", first, runnerUp, scores[0], scores[1])
		}
		if !math.IsInf(runnerUp, -1) && (slices.Equal(best, second) || !near(c.score(unary, second), runnerUp)) {
			t.Fatalf("paths %v and %v, the second with %v", best, second, c.score(unary, second))
		}
		if !ties && !math.IsInf(first, -1) && !slices.Equal(best, viterbi) {
			t.Fatalf("best of two %v, best %v", best, viterbi)
		}
	})
}

func TestTiesGoToTheLowestTagsFromTheEnd(t *testing.T) {
	c := newChain(3, nil)
	path := make([]int32, 4)
	if c.best(&lattice{}, make([]float64, 12), path); !slices.Equal(path, []int32{0, 0, 0, 0}) {
		t.Errorf("path %v", path)
	}
}

func TestConstrainedPathsHaveTheLabels(t *testing.T) {
	eachChain(t, func(t *testing.T, random *rand.Rand, c *chain, unary []float64, _ bool) {
		tokens, l := len(unary)/c.tags, &lattice{}
		labels, path := drawnLabels(random, c.tags, tokens, 0.5), make([]int32, tokens)
		want := math.Inf(-1)
		eachPath(c.tags, tokens, func(path []int32) {
			if hasAll(path, labels) {
				want = max(want, c.score(unary, path))
			}
		})
		got := c.best(l, c.withCost(l, unary, labels, math.Inf(-1)), path)
		if !near(got, want) || !math.IsInf(want, -1) && !hasAll(path, labels) {
			t.Fatalf("path %v with %v for labels %v, should have %v", path, got, labels, want)
		}
	})
}

func TestMarginalsAreThoseOfEnumeration(t *testing.T) {
	eachChain(t, func(t *testing.T, random *rand.Rand, c *chain, unary []float64, _ bool) {
		l, factor := &lattice{}, 0.5+random.Float64()
		labels := drawnLabels(random, c.tags, len(unary)/c.tags, 0.7)
		for _, scores := range [][]float64{unary, slices.Clone(c.withCost(l, unary, labels, math.Inf(-1)))} {
			into, counts := make([]float64, len(unary)), new(newEdges(c.tags))
			total := c.marginals(l, scores, factor, into, counts)
			wantTotal, wantInto, want := enumerated(c, scores, factor)
			if !near(total, wantTotal) {
				t.Fatalf("log Z is %v, should be %v", total, wantTotal)
			}
			for _, pair := range [][2][]float64{{into, wantInto}, {counts.all, want.all}} {
				if !floats.EqualApprox(pair[0], pair[1], 1e-10) {
					t.Fatalf("K=%d: counts %v, should be %v", c.tags, pair[0], pair[1])
				}
			}
		}
	})
}

// enumerated is Marginals by all paths.
func enumerated(c *chain, unary []float64, factor float64) (total float64, into []float64, counts *edges) {
	tokens := len(unary) / c.tags
	var scores []float64
	eachPath(c.tags, tokens, func(path []int32) { scores = append(scores, c.score(unary, path)) })
	total, into, counts = floats.LogSumExp(scores), make([]float64, len(unary)), new(newEdges(c.tags))
	if math.IsInf(total, -1) {
		return total, into, counts
	}
	k := 0
	eachPath(c.tags, tokens, func(path []int32) {
		if p := math.Exp(scores[k] - total); p > 0 {
			counts.add(path, factor*p, into)
		}
		k++
	})
	return total, into, counts
}

func drawnLabels(random *rand.Rand, tags, tokens int, missing float64) []int32 {
	labels := make([]int32, tokens)
	for t := range labels {
		labels[t] = int32(random.IntN(tags))
		if random.Float64() < missing {
			labels[t] = int32(-1 - random.IntN(2))
		}
	}
	return labels
}

func hasAll(path, labels []int32) bool {
	for t, label := range labels {
		if label >= 0 && path[t] != label || label == -2 && path[t]%2 == 1 {
			return false
		}
	}
	return true
}

// evenTags is the only set of drawn chains, of the label -2.
func evenTags(tags int) []uint8 {
	set := make([]uint8, tags)
	for j := 0; j < tags; j += 2 {
		set[j] = 1
	}
	return set
}

func TestAMillionTokensAreOneSequence(t *testing.T) {
	c, unary := drawn(rand.New(rand.NewPCG(1, 2)), 4, 1_000_000, 3, 0.2, false)
	l, path, into, counts := &lattice{}, make([]int32, 1_000_000), make([]float64, len(unary)), new(newEdges(4))
	score := c.best(l, unary, path)
	if !near(score, c.score(unary, path)) {
		t.Errorf("score %v, path has %v", score, c.score(unary, path))
	}
	total := c.marginals(l, unary, 1, into, counts)
	if !(total > score) {
		t.Errorf("log Z %v is below the best score %v", total, score)
	}
	if sum := floats.Sum(counts.pair); math.Abs(sum-999_999) > 1e-6 {
		t.Errorf("%v transitions", sum)
	}
}

// BenchmarkDecoding is of nine tags, as of four kinds of entities; the features are ready as unary scores.
func BenchmarkDecoding(b *testing.B) {
	c, unary := drawn(rand.New(rand.NewPCG(3, 4)), 9, 30, 1, 0.1, false)
	l, path, second, into, counts := &lattice{}, make([]int32, 30), make([]int32, 30), make([]float64, 270), new(newEdges(9))
	for name, decode := range map[string]func(){
		"best":      func() { c.best(l, unary, path) },
		"two":       func() { c.twoBest(l, unary, path, second) },
		"marginals": func() { clear(into); c.marginals(l, unary, 1, into, counts) },
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				decode()
			}
			b.ReportMetric(30*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
		})
	}
}
