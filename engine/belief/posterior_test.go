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

// agrees compares the slope of a cost along changes with differences, its bound on the curvature with second ones, and
// both with the gradient and, where the bound is that of HessVec, with its product.
func agrees(t *testing.T, name string, of joint, at *layout, scores []float64, bounds bool) {
	t.Helper()
	_, changes := somePosterior(2)
	value := func(t float64) float64 {
		moved := slices.Clone(scores)
		vector.Add(moved, t, changes)
		return of.Evaluate(moved, nil)
	}
	along := func(v []float64) (sum float64) {
		for k := range at.rows {
			sum += vector.Dot(at.row(v, k), at.row(changes, k))
		}
		return sum
	}
	const h = 1e-4
	for _, where := range []float64{0, 0.4, 1.5} {
		_, first, bound := of.Line(scores, changes, where)
		near(t, name+": slope along", first, (value(where+h)-value(where-h))/(2*h), 1e-7)
		second := (value(where+h) - 2*value(where) + value(where-h)) / (h * h)
		if !(second <= bound+1e-5) {
			t.Errorf("%s: curvature %v is above its bound %v", name, second, bound)
		}
	}
	slope, state, product := make([]float64, len(scores)), make([]float64, len(scores)), slices.Clone(changes)
	near(t, name+": value", of.Gradient(scores, slope, state), value(0), 1e-12)
	_, first, second := of.Line(scores, changes, 0)
	near(t, name+": gradient", along(slope), first, 1e-8)
	if of.HessVec(product, slope, state); bounds {
		near(t, name+": curvature", along(product), second, 1e-10)
	}
}

func TestPosteriorAgreesWithDifferences(t *testing.T) {
	e, scores := somePosterior(1)
	agrees(t, "posterior", e, &e.layout, scores, true)
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
