package belief

import (
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

func somePosterior(seed uint64) (e *Posterior, scores []float64) {
	m, scores := someMeans(nil, seed)
	e = NewPosterior(work.NewJob(2, nil), m.rows, m.weights, prior, stride)
	e.Weight = 0.3
	return e, scores
}

func TestPosteriorAgreesWithDifferences(t *testing.T) {
	e, scores := somePosterior(1)
	_, changes := somePosterior(2)
	slope, state := make([]float64, len(scores)), make([]float64, len(scores))
	at := func(t float64) float64 {
		moved := slices.Clone(scores)
		vector.Add(moved, t, changes)
		return e.Evaluate(moved, nil)
	}
	const h = 1e-4
	for _, where := range []float64{0, 0.4, 1.5} {
		_, first, bound := e.Line(scores, changes, where)
		near(t, "slope along", first, (at(where+h)-at(where-h))/(2*h), 1e-7)
		if second := (at(where+h) - 2*at(where) + at(where-h)) / (h * h); !(second <= bound+1e-5) {
			t.Errorf("curvature %v is above its bound %v", second, bound)
		}
	}
	e.Gradient(scores, slope, state)
	total := 0.0
	for k := range e.rows {
		total += vector.Dot(e.row(slope, k), e.row(changes, k))
	}
	_, first, second := e.Line(scores, changes, 0)
	near(t, "gradient", total, first, 1e-8)
	product, along := slices.Clone(changes), 0.0
	e.HessVec(product, slope, state)
	for k := range e.rows {
		along += vector.Dot(e.row(product, k), e.row(changes, k))
	}
	near(t, "curvature", along, second, 1e-10)
}

func TestPosteriorLabelsKeepThePrior(t *testing.T) {
	e, scores := somePosterior(3)
	e.Evaluate(scores, nil)
	means := make([]float64, classes)
	for k, u := range e.weights {
		vector.Add(means, u, e.place(e.Labels, k))
	}
	for y, share := range prior {
		near(t, "mean label", means[y], share, 1e-8)
	}
}
