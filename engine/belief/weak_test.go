package belief

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// someWeak is a joint cost of rows of which sets and probabilities are known; every second row has none.
func someWeak(t *testing.T, of joint, unlabeled []int32, scores []float64) *Weak {
	t.Helper()
	n := len(scores) / stride
	dense, err := rows.NewDense(n, 1, 1, slices.Repeat([]float64{1}, n))
	if err != nil {
		t.Fatal(err)
	}
	p, costs := sample.Problem{Rows: dense, Labels: make([]int32, n)}, make([]float64, n*classes)
	for k, i := range unlabeled {
		if p.Labels[i] = -1; k%2 == 0 {
			row := costs[int(i)*classes:]
			row[k%classes], row[(k+1)%classes] = math.Inf(1), 0.3*float64(k%5)
		}
	}
	p.Classes, p.Weak = classes, planted.Weak(classes, costs, p.Labels)
	s, err := sample.New(p, sample.Options{UnlabeledWeight: 1}, work.NewJob(2, nil))
	if err != nil {
		t.Fatal(err)
	}
	return newWeak(s.Job, of, s, 0.3, stride)
}

func TestWhatIsKnownAgreesWithDifferences(t *testing.T) {
	p, scores := somePosterior(1)
	m, _ := someMeans(Equality(prior), 1)
	m.Entropy, m.Convex = 0.4, true
	for name, of := range map[string]joint{"posterior": p, "means": m} {
		w := someWeak(t, of, p.rows, scores)
		agrees(t, name, w, &w.layout, scores, of == joint(p))
	}
}

// The loss of a set is minus the logarithm of its probability.
func TestTheLossOfASetIsThatOfItsProbability(t *testing.T) {
	p, scores := somePosterior(1)
	w := someWeak(t, p, p.rows, scores)
	w.Evaluate(scores, nil)
	want, q := 0.0, make([]float64, classes)
	for k := range p.rows {
		vector.Softmax(q, w.row(scores, k))
		sum := 0.0
		for y := range q {
			sum += q[y] * math.Exp(-w.sample.Weak.Of(k).Of(int32(y)))
		}
		want -= w.weights[k] * math.Log(sum)
	}
	near(t, "loss", w.Known, want, 1e-12)
}
