package labeling

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

func (s *soft) solveLoosely(threads int, strength, temperature float64, fromPrior bool) (means []float64) {
	job := work.NewJob(threads, nil)
	return LooseClasses(job, s.p, s.costs, s.weights, s.shares, strength, temperature, fromPrior, s.v)
}

// divergence is the objective of LooseClasses.
func (s *soft) divergence(strength, temperature float64, fromPrior bool) float64 {
	m, total, weight, means := s.classes(), 0.0, 0.0, make([]float64, s.classes())
	for k, q := range s.p {
		reference := 1.0
		if fromPrior {
			reference = s.shares[k%m]
		}
		total += s.weights[k/m] * q * (s.costs[k] + temperature*math.Log(q/reference))
		means[k%m] += s.weights[k/m] * q
		weight += s.weights[k/m] / float64(m)
	}
	total /= weight
	for y, share := range s.shares {
		total += strength * share * math.Log(share*weight/means[y])
	}
	return total
}

func TestLooseClassesAreTheMinimum(t *testing.T) {
	for _, fromPrior := range []bool{true, false} {
		for _, strength := range []float64{0.03, 1, 30} {
			const temperature = 0.7
			s := topics(8, 4, 3).softly(2)
			s.shares = []float64{0.5, 0.3, 0.15, 0.05}
			s.solveLoosely(1, strength, temperature, fromPrior)
			best := s.divergence(strength, temperature, fromPrior)
			for k := range s.p {
				for z := range 4 {
					other := k/4*4 + z
					move := 1e-4 * math.Min(s.p[k], s.p[other])
					s.p[k] += move
					s.p[other] -= move
					if after := s.divergence(strength, temperature, fromPrior); after < best-1e-13 {
						t.Fatalf("strength %v: moving mass lowers the objective by %v", strength, best-after)
					}
					s.p[k] -= move
					s.p[other] += move
				}
			}
		}
	}
}

func TestLooseClassesAtAnyTemperatureAndStrength(t *testing.T) {
	for _, in := range []instance{topics(1500, 2, 1), topics(1200, 6, 2), topics(600, 40, 3)} {
		for _, strength := range []float64{0.01, 0.1, 1, 10, 1e4} {
			s := in.softly(5)
			for _, temperature := range []float64{10, 1, 0.1, 1e-2, 1e-3} {
				means := s.solveLoosely(2, strength, temperature, true)
				sum := 0.0
				for y, share := range s.shares {
					if aim := share / (1 + s.v[y]/strength); !(math.Abs(aim-means[y]) <= 1e-7) {
						t.Errorf("%d classes, strength %v, T = %v: class %d has %v, should have %v", in.classes(), strength,
							temperature, y, means[y], aim)
					}
					sum += means[y]
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Errorf("the means sum to %v", sum)
				}
			}
		}
	}
}

// A strong prior is held, a weak one lets the labels be those of the costs.
func TestLooseClassesInTheLimits(t *testing.T) {
	const temperature = 0.3
	hard, strong, weak := topics(300, 5, 1).softly(4), topics(300, 5, 1).softly(4), topics(300, 5, 1).softly(4)
	hard.solve(1, temperature)
	strong.solveLoosely(1, 1e9, temperature, true)
	weak.solveLoosely(1, 1e-9, temperature, false)
	free := make([]float64, 5)
	for i := range hard.rows {
		soften(free, weak.costs[5*i:5*i+5], make([]float64, 5), temperature)
		for y := range free {
			if k := 5*i + y; math.Abs(strong.p[k]-hard.p[k]) > 1e-6 {
				t.Fatalf("strong prior: %v, should be %v", strong.p[k], hard.p[k])
			} else if math.Abs(weak.p[k]-free[y]) > 1e-6 {
				t.Fatalf("weak prior: %v, should be %v", weak.p[k], free[y])
			}
		}
	}
}

func TestLooseSoftIsLooseClassesForTwo(t *testing.T) {
	for _, strength := range []float64{0.01, 0.3, 5, 1e5} {
		for _, temperature := range []float64{5, 0.5, 0.01} {
			s := topics(500, 2, 7).softly(8)
			want := s.solveLoosely(1, strength, temperature, true)
			g, p := make([]float64, s.rows), make([]float64, s.rows)
			for i := range g {
				g[i] = s.costs[2*i+1] - s.costs[2*i]
			}
			nu, mean := LooseSoft(work.NewJob(1, nil), p, g, s.weights, temperature, s.shares[1], strength, 0)
			if math.Abs(mean-want[1]) > 1e-8 || math.Abs(nu-(s.v[1]-s.v[0])) > 1e-5*(1+math.Abs(nu)) {
				t.Errorf("strength %v, T = %v: mean %v, ν %v; should be %v, %v", strength, temperature, mean, nu, want[1],
					s.v[1]-s.v[0])
			}
		}
	}
}

func TestLooseClassesHaveTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 4)
	one, four := topics(9000, 6, 2).softly(5), topics(9000, 6, 2).softly(5)
	one.solveLoosely(1, 0.5, 0.2, true)
	four.solveLoosely(4, 0.5, 0.2, true)
	for k, q := range one.p {
		if math.Float64bits(q) != math.Float64bits(four.p[k]) {
			t.Fatalf("label %d: %v, %v", k, q, four.p[k])
		}
	}
}
