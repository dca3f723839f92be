package sequence

import (
	"math"
	"math/rand/v2"
	"testing"
)

var losses = map[string]Loss{
	"softmax margin":           Soft{1, Hamming},
	"softmax margin, zero one": Soft{1, ZeroOne},
	"likelihood":               Soft{1, None},
	"soft hinge":               Soft{4, Hamming},
	"soft hinge, zero one":     Soft{3, ZeroOne},
	"huber":                    Huber{0.5, Hamming},
	"huber, zero one":          Huber{2, ZeroOne},
}

// at is the loss and its gradient at scores without the factor.
func at(loss Loss, c *chain, unary []float64, labels []int32) (value float64, into []float64, counts *counts) {
	rho := loss.Sharpness()
	sharp, scores := newChain(c.tags), make([]float64, len(unary))
	sharp.sets = c.sets
	for _, part := range [][2][]float64{{sharp.pair, c.pair}, {sharp.start, c.start}, {sharp.end, c.end}} {
		for k, score := range part[1] {
			part[0][k] = rho * score
		}
	}
	sharp.refresh()
	for k, u := range unary {
		scores[k] = rho * u
	}
	into, counts = make([]float64, len(unary)), newCounts(c.tags)
	return loss.At(&lattice{}, sharp, scores, labels, into, counts) / rho, into, counts
}

// byEnumeration is the loss from its formula.
func byEnumeration(loss Loss, c *chain, unary []float64, labels []int32) float64 {
	var all, right []float64
	worst, best := math.Inf(-1), math.Inf(-1)
	rho, kind := loss.Sharpness(), None
	switch l := loss.(type) {
	case Soft:
		kind = l.Cost
	case Huber:
		kind = l.Cost
	}
	eachPath(c.tags, len(labels), func(path []int32) {
		s, cost := c.score(unary, path), 0.0
		for t, label := range labels {
			if !hasAll(path[t:t+1], []int32{label}) && kind != None && (kind == Hamming || cost == 0) {
				cost++
			}
		}
		all = append(all, rho*(s+cost))
		if hasAll(path, labels) {
			right = append(right, rho*s)
			best = max(best, s)
		} else {
			worst = max(worst, s+cost)
		}
	})
	if h, ok := loss.(Huber); ok {
		value, _ := h.rounded(worst - best)
		return value
	}
	return (logSum(all) - logSum(right)) / rho
}

func TestLossesAreThoseOfEnumeration(t *testing.T) {
	for name, loss := range losses {
		for tags := 1; tags <= 4; tags++ {
			for tokens := 1; tokens <= 6; tokens++ {
				random := rand.New(rand.NewPCG(uint64(tags), uint64(tokens)))
				c, unary := drawn(random, tags, tokens, 1, 0, false)
				for _, missing := range []float64{0, 0.4} {
					labels := drawnLabels(random, tags, tokens, missing)
					got, _, _ := at(loss, c, unary, labels)
					if want := byEnumeration(loss, c, unary, labels); !near(got, want) {
						t.Fatalf("%s, K=%d, T=%d: %v, should be %v", name, tags, tokens, got, want)
					}
				}
			}
		}
	}
}

func TestGradientsOfLossesAreDifferences(t *testing.T) {
	const step = 1e-5
	for name, loss := range losses {
		random := rand.New(rand.NewPCG(5, 6))
		for range 10 {
			c, unary := drawn(random, 3, 5, 1, 0, false)
			for _, missing := range []float64{0, 0.4} {
				labels := drawnLabels(random, 3, 5, missing)
				_, into, counts := at(loss, c, unary, labels)
				for _, pair := range [][2][]float64{
					{unary, into}, {c.pair, counts.pair}, {c.start, counts.start}, {c.end, counts.end},
				} {
					for k := range pair[0] {
						value := func(shift float64) float64 {
							pair[0][k] += shift
							defer func() { pair[0][k] -= shift }()
							found, _, _ := at(loss, c, unary, labels)
							return found
						}
						difference := (value(step) - value(-step)) / (2 * step)
						if math.Abs(difference-pair[1][k]) > 1e-7 {
							t.Fatalf("%s: gradient %v, difference %v", name, pair[1][k], difference)
						}
					}
				}
			}
		}
	}
}
