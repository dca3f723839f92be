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

// soft is a soft labeling problem and its answer.
type soft struct {
	instance
	weights, shares, p, v []float64
}

// softly draws weights and takes shares that are no whole numbers of rows.
func (in instance) softly(seed uint64) soft {
	random, m := rand.New(rand.NewPCG(seed, 3)), in.classes()
	s := soft{in, make([]float64, in.rows), make([]float64, m), make([]float64, in.rows*m), make([]float64, m)}
	for i := range s.weights {
		s.weights[i] = 0.5 + random.Float64()
	}
	for y, count := range in.counts {
		if count > 0 {
			s.shares[y] = (float64(count) + random.Float64()) / float64(in.rows)
		}
	}
	vector.Normalize(s.shares)
	return s
}

func (s *soft) solve(threads int, temperature float64) {
	SoftLabels(work.NewJob(threads, nil), s.p, s.costs, s.weights, s.shares, s.v, temperature, Exact)
}

// check compares p with its closed form, row sums with 1 and means with the shares.
func (s *soft) check(t *testing.T, temperature, tolerance float64) {
	t.Helper()
	m, weight, means := s.classes(), 0.0, make([]float64, s.classes())
	for i := range s.rows {
		p, c, sum, least := s.p[i*m:(i+1)*m], s.costs[i*m:(i+1)*m], 0.0, math.Inf(1)
		for y := range p {
			least = math.Min(least, c[y]-s.v[y])
		}
		for y := range p {
			sum += math.Exp(-(c[y] - s.v[y] - least) / temperature)
		}
		total := 0.0
		for y, q := range p {
			if want := math.Exp(-(c[y]-s.v[y]-least)/temperature) / sum; !(math.Abs(q-want) <= 1e-12) {
				t.Fatalf("T = %v: p of row %d and class %d is %v, should be %v", temperature, i, y, q, want)
			}
			total += q
			means[y] += s.weights[i] * q
		}
		if math.Abs(total-1) > 1e-12 {
			t.Fatalf("T = %v: row %d sums to %v", temperature, i, total)
		}
		weight += s.weights[i]
	}
	for y := range means {
		if !(math.Abs(means[y]/weight-s.shares[y]) <= tolerance) {
			t.Errorf("T = %v: class %d has the share %v, should be %v", temperature, y, means[y]/weight, s.shares[y])
		}
	}
}

func TestSoftKeepTheSharesAtAnyTemperature(t *testing.T) {
	for _, in := range []instance{topics(1500, 2, 1), topics(1200, 6, 2), topics(600, 40, 3), whole(800, 6, 4, 4)} {
		s := in.softly(5)
		for _, temperature := range []float64{1e4, 10, 1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5} {
			s.solve(1, temperature) // warm
			s.check(t, temperature, 1.1e-9)
			clear(s.v)
			s.solve(1, temperature) // cold
			s.check(t, temperature, 1e-7)
		}
	}
}

func TestSoftBearCostsOfAnySize(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 1))
	s := topics(700, 5, 2).softly(1)
	for k := range s.costs {
		s.costs[k] *= math.Exp(4 * random.NormFloat64())
	}
	for _, temperature := range []float64{1e3, 1, 1e-3} {
		clear(s.v)
		s.solve(1, temperature)
		s.check(t, temperature, 1e-7)
	}
	for k := range s.costs {
		s.costs[k] = 1e300 * random.Float64()
	}
	clear(s.v)
	s.solve(1, 1e299)
	s.check(t, 1e299, 1e-8)
	for k := range s.costs {
		s.costs[k] = math.MaxFloat64 * random.Float64() // sums overflow: no solution is asked for, but an end
	}
	clear(s.v)
	s.solve(1, 1e300)
}

func TestSoftOfTwoClassesSolvesTheDual(t *testing.T) {
	for _, temperature := range []float64{10, 0.5, 0.02, 1e-4} {
		s := topics(3000, 2, 7).softly(7)
		s.solve(1, temperature)
		general := slices.Clone(s.p)
		d := newDual(work.NewJob(1, nil), general, s.costs, s.weights, s.shares, slices.Clone(s.v))
		d.temperature = temperature
		for y := range d.v {
			d.v[y] *= 0.9
		}
		d.evaluate(d.v)
		d.solve(false, 1e-13)
		for k := range s.p {
			if math.Abs(s.p[k]-general[k]) > 1e-8 {
				t.Fatalf("T = %v: row %d has %v, the dual %v", temperature, k/2, s.p[k], general[k])
			}
		}
	}
}

func TestSoftIsTheMinimum(t *testing.T) {
	// Moving mass round two rows and two classes, which keeps all sums, never lowers the objective.
	const temperature = 0.7
	s := topics(8, 4, 3).softly(2)
	s.shares = []float64{0.3, 0.3, 0.2, 0.2}
	s.solve(1, temperature)
	value := func() float64 {
		total := 0.0
		for k, q := range s.p {
			total += s.weights[k/4] * q * (s.costs[k] + temperature*math.Log(q))
		}
		return total
	}
	best := value()
	for k := range s.p {
		for l := range s.p {
			i, j, y, z := k/4, l/4, k%4, l%4
			if i == j || y == z {
				continue
			}
			move := 1e-4 * math.Min(s.p[4*i+z], s.p[4*j+y])
			before := slices.Clone(s.p)
			s.p[4*i+y] += move / s.weights[i]
			s.p[4*i+z] -= move / s.weights[i]
			s.p[4*j+y] -= move / s.weights[j]
			s.p[4*j+z] += move / s.weights[j]
			if after := value(); after < best-1e-13 {
				t.Fatalf("rows %d, %d, classes %d, %d: moving mass lowers the objective by %v", i, j, y, z, best-after)
			}
			copy(s.p, before)
		}
	}
}

func TestSoftBecomeTheCheapest(t *testing.T) {
	for _, in := range []instance{topics(1000, 6, 4), topics(300, 30, 5), whole(500, 5, 9, 6)} {
		s := in.softly(1)
		s.weights, s.shares = ones(in.rows), sharesOf(in.counts)
		labels := in.greedy()
		Transport(labels, in.costs, in.counts)
		want := in.total(labels)
		for _, temperature := range []float64{1e-3, 1e-5, 1e-7} {
			s.solve(1, temperature)
			got := 0.0
			for k, q := range s.p {
				got += q * s.costs[k]
			}
			if bound := temperature * math.Log(float64(in.classes())) * float64(in.rows); got < want-1e-4 ||
				got > want+bound+1e-4 {
				t.Errorf("T = %v: the cost is %v, of hard labels %v", temperature, got, want)
			}
		}
	}
}

func TestClassesWithoutAShareGetNothing(t *testing.T) {
	s := topics(500, 5, 9).softly(4)
	s.shares = []float64{0.5, 0, 0.3, 0.2, 0}
	for _, temperature := range []float64{5, 0.01} {
		s.solve(1, temperature)
		s.check(t, temperature, 1.1e-9)
		for i := range s.rows {
			if s.p[5*i+1] != 0 || s.p[5*i+4] != 0 || !math.IsInf(s.v[1], -1) {
				t.Fatalf("row %d has %v, potentials %v", i, s.p[5*i:5*i+5], s.v)
			}
		}
	}
	one := topics(10, 1, 1).softly(1)
	one.solve(1, 1)
	one.check(t, 1, 0)
	none := topics(0, 3, 1).softly(1)
	none.shares = []float64{0.5, 0.5, 0}
	none.solve(1, 1)
}

func TestSoftHaveTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 4)
	in := topics(40000, 4, 6)
	reference := in.softly(6)
	reference.solve(1, 0.3)
	for _, threads := range []int{2, 3} {
		s := in.softly(6)
		s.solve(threads, 0.3)
		if !slices.Equal(s.p, reference.p) || !slices.Equal(s.v, reference.v) {
			t.Errorf("%d threads: other bits", threads)
		}
	}
}

func TestSoftFromAnyStart(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	in := topics(2000, 7, 8)
	for _, temperature := range []float64{2, 0.1, 1e-3} {
		cold := in.softly(8)
		cold.solve(1, temperature)
		for _, size := range []float64{0.01, 1, 100, math.Inf(1)} {
			s := in.softly(8)
			for y := range s.v {
				s.v[y] = size * random.NormFloat64()
			}
			s.solve(1, temperature)
			for k := range s.p {
				if math.Abs(s.p[k]-cold.p[k]) > 1e-4 {
					t.Fatalf("T = %v: from potentials of size %v p is %v, should be %v", temperature, size, s.p[k],
						cold.p[k])
				}
			}
		}
	}
}

func TestEntropy(t *testing.T) {
	for want, p := range map[float64][]float64{1.5: {0.25, 0.25, 0.5}, 0: {1, 0, 0}, 1: {0.5, 0.5}} {
		if h := Entropy(p); h != want {
			t.Errorf("entropy %v of %v, should be %v bits", h, p, want)
		}
	}
}

func TestHessianIsTheDerivativeOfTheMeans(t *testing.T) {
	const temperature, h = 0.8, 1e-5
	s := topics(300, 5, 3).softly(3)
	d := newDual(work.NewJob(1, nil), s.p, s.costs, s.weights, s.shares, s.v)
	d.temperature = temperature
	means := func(y int, by float64) []float64 {
		v := slices.Clone(d.v)
		v[y] += by
		d.evaluate(v)
		return slices.Clone(d.q)
	}
	for y := range 5 {
		up, down := means(y, h), means(y, -h)
		d.evaluate(d.v)
		d.cutoff = 0
		hessian := d.hessian()
		for z := range y {
			slope := temperature * (up[z] - down[z]) / (2 * h)
			if got := hessian.At(y, z); math.Abs(got-slope) > 1e-8 {
				t.Errorf("classes %d, %d: %v, should be %v", y, z, got, slope)
			}
		}
		d.cutoff = 1 // every pair is left out: the diagonal is there all the same
		slope := temperature * (up[y] - down[y]) / (2 * h)
		if got := d.hessian().At(y, y); math.Abs(got-slope) > 1e-8 {
			t.Errorf("class %d: %v, should be %v", y, got, slope)
		}
	}
}

func TestSharesOfHundredsOfClassesAreMet(t *testing.T) {
	for _, temperature := range []float64{1, 0.1, 1e-2, 1e-3} {
		s := topics(600, 300, 3).softly(3)
		d := newDual(work.NewJob(1, nil), s.p, s.costs, s.weights, s.shares, s.v)
		d.temperature, d.tolerance = temperature, Exact
		d.evaluate(d.v)
		d.solveFromStarts()
		if d.residual(false) > 1e-9 || d.evaluations > 100 {
			t.Errorf("at %v the shares are missed by %v, after %d evaluations", temperature, d.residual(false), d.evaluations)
		}
	}
}
