package belief

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	classes = 5
	stride  = 8
	count   = 40
)

var prior = []float64{0.4, 0.25, 0.2, 0.1, 0.05}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func holds() map[string]*Multipliers {
	return map[string]*Multipliers{
		"multipliers": &Multipliers{Prior: prior, Lambda: []float64{0.3, -0.2, 0.1, 0, 0.5}, Weight: 3},
		"from 0":      Equality(prior),
	}
}

// someMeans is the cost of every other row of some random scores, with unequal weights.
func someMeans(hold *Multipliers, seed uint64) (m *Means, scores []float64) {
	random := rand.New(rand.NewPCG(seed, 2))
	scores = make([]float64, count*stride)
	var rows []int32
	var weights []float64
	total := 0.0
	for i := range count {
		for y := range stride {
			scores[i*stride+y] = 2 * random.NormFloat64()
		}
		if i%2 == 0 {
			rows, weights = append(rows, int32(i)), append(weights, float64(1+i%3))
			total += weights[len(weights)-1]
		}
	}
	for k := range weights {
		weights[k] /= total
	}
	m = NewMeans(work.NewJob(2, nil), rows, weights, classes, stride)
	m.Entropy, m.Constraint = 0.7, hold
	return m, scores
}

// directly is the cost from its definition.
func directly(m *Means, scores []float64) float64 {
	means, entropy := make([]float64, classes), 0.0
	for k, i := range m.rows {
		total := 0.0
		for y := range classes {
			total += math.Exp(scores[int(i)*stride+y])
		}
		for y := range classes {
			p := math.Exp(scores[int(i)*stride+y]) / total
			means[y] += m.weights[k] * p
			entropy -= m.weights[k] * p * math.Log(p)
		}
	}
	for y, share := range prior {
		off := means[y] - share
		entropy += (m.Constraint.Lambda[y]*off + m.Constraint.Weight/2*off*off/share) / m.Entropy
	}
	return m.Entropy * entropy
}

func TestGradientAndBendAgreeWithDifferences(t *testing.T) {
	for name, hold := range holds() {
		m, scores := someMeans(hold, 1)
		slope, state := make([]float64, len(scores)), make([]float64, len(scores))
		up, down, scratch := make([]float64, len(scores)), make([]float64, len(scores)), make([]float64, len(scores))
		near(t, name+": value", m.Gradient(scores, slope, state), directly(m, scores), 1e-12)
		const h = 1e-5
		for _, i := range m.rows[:4] {
			for y := range classes {
				at := int(i)*stride + y
				unit := make([]float64, len(scores))
				unit[at] = 1
				_, first, second := m.Line(scores, unit, 0)
				moved := slices.Clone(scores)
				moved[at] += h
				high := m.Gradient(moved, up, scratch)
				moved[at] -= 2 * h
				low := m.Gradient(moved, down, scratch)
				near(t, name+": slope", slope[at], (high-low)/(2*h), 1e-8)
				near(t, name+": slope along", first, slope[at], 1e-12)
				m.hessVecAt(scores, unit, slope, state)
				near(t, name+": curvature along", second, unit[at], 1e-12)
				for _, j := range m.rows {
					for z := range classes {
						q := int(j)*stride + z
						near(t, name+": second derivative", unit[q], (up[q]-down[q])/(2*h), 1e-8)
					}
				}
			}
		}
	}
}

// hessVecAt is HessVec at these scores.
func (m *Means) hessVecAt(scores, changes, slope, state []float64) {
	m.Gradient(scores, slope, state)
	m.HessVec(changes, slope, state)
}

func TestAlongAgreesWithDifferences(t *testing.T) {
	for name, hold := range holds() {
		m, scores := someMeans(hold, 2)
		_, changes := someMeans(hold, 3)
		slope, state := make([]float64, len(scores)), make([]float64, len(scores))
		at := func(t float64) float64 {
			moved := slices.Clone(scores)
			vector.Add(moved, t, changes)
			return m.Gradient(moved, slope, state)
		}
		const h = 1e-5
		for _, where := range []float64{0, 0.3, 2} {
			_, first, second := m.Line(scores, changes, where)
			near(t, name+": slope", first, (at(where+h)-at(where-h))/(2*h), 1e-8)
			_, high, _ := m.Line(scores, changes, where+h)
			_, low, _ := m.Line(scores, changes, where-h)
			near(t, name+": curvature", second, (high-low)/(2*h), 1e-7)
		}
	}
}

// The convex model is symmetric and never negative, and with sure rows there is nothing left of either curvature.
func TestConvexBendIsPositive(t *testing.T) {
	for name, hold := range holds() {
		m, scores := someMeans(hold, 4)
		m.Convex = true
		slope, state := make([]float64, len(scores)), make([]float64, len(scores))
		for seed := range uint64(20) {
			_, one := someMeans(hold, 10+seed)
			_, two := someMeans(hold, 50+seed)
			bentOne, bentTwo := slices.Clone(one), slices.Clone(two)
			m.hessVecAt(scores, bentOne, slope, state)
			m.hessVecAt(scores, bentTwo, slope, state)
			curvature, left, right := 0.0, 0.0, 0.0
			for k := range m.rows {
				curvature += vector.Dot(m.row(bentOne, k), m.row(one, k))
				left += vector.Dot(m.row(bentOne, k), m.row(two, k))
				right += vector.Dot(m.row(bentTwo, k), m.row(one, k))
			}
			if !(curvature > 0) {
				t.Fatalf("%s: curvature %v", name, curvature)
			}
			near(t, name+": symmetry", left, right, 1e-10)
		}
	}
}

func TestScoresOfAnySize(t *testing.T) {
	m, scores := someMeans(Equality(prior), 5)
	slope, state := make([]float64, len(scores)), make([]float64, len(scores))
	for _, scale := range []float64{0, 1e3, 1e100} {
		large := slices.Clone(scores)
		for k := range large {
			large[k] *= scale
		}
		value := m.Gradient(large, slope, state)
		for k := range m.rows {
			value += vector.Sum(m.row(slope, k))
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			t.Errorf("scale %v: %v", scale, value)
		}
	}
}
