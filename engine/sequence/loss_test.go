package sequence

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

var losses = map[string]SoftmaxMargin{"softmax margin": {1, 1}, "likelihood": {1, 0}, "soft hinge": {4, 1}}

// at is the loss and its gradient at scores without the factor.
func at(rho float64, loss Loss, c *chain, unary []float64, labels []int32) (v float64, into []float64, counts *edges) {
	sharp, scores := sharper(c, rho), floats.ScaleTo(make([]float64, len(unary)), rho, unary)
	into, counts = make([]float64, len(unary)), new(newEdges(c.tags))
	return loss.At(&lattice{}, sharp, scores, labels, into, counts) / rho, into, counts
}

// byEnumeration is the loss from its formula.
func byEnumeration(loss SoftmaxMargin, c *chain, unary []float64, labels []int32) float64 {
	var all, right []float64
	eachPath(c.tags, len(labels), func(path []int32) {
		s, cost := c.score(unary, path), 0.0
		for t, label := range labels {
			if !hasAll(path[t:t+1], []int32{label}) {
				cost += loss.Cost
			}
		}
		all = append(all, loss.Rho*(s+cost))
		if hasAll(path, labels) {
			right = append(right, loss.Rho*s)
		}
	})
	return (floats.LogSumExp(all) - floats.LogSumExp(right)) / loss.Rho
}

func TestLossesAreThoseOfEnumeration(t *testing.T) {
	for name, loss := range losses {
		for tags := 1; tags <= 4; tags++ {
			for tokens := 1; tokens <= 6; tokens++ {
				random := rand.New(rand.NewPCG(uint64(tags), uint64(tokens)))
				c, unary := drawn(random, tags, tokens, 1, 0, false)
				for _, missing := range []float64{0, 0.4} {
					labels := drawnLabels(random, tags, tokens, missing)
					got, _, _ := at(loss.Rho, loss, c, unary, labels)
					if want := byEnumeration(loss, c, unary, labels); !near(got, want) {
						t.Fatalf("%s, K=%d, T=%d: %v, should be %v", name, tags, tokens, got, want)
					}
				}
			}
		}
	}
}

func TestGradientsOfLossesAreDifferences(t *testing.T) {
	for _, loss := range losses {
		random := rand.New(rand.NewPCG(5, 6))
		for range 10 {
			c, unary := drawn(random, 3, 5, 1, 0, false)
			for _, missing := range []float64{0, 0.4} {
				differences(t, loss.Rho, loss, c, unary, drawnLabels(random, 3, 5, missing))
			}
		}
	}
}
