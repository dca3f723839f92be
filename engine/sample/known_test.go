package sample

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

func TestWhatIsKnownRunsFromNothingToALabel(t *testing.T) {
	inf, sure := math.Inf(1), -math.Log(1e-9)
	for _, c := range []struct {
		costs []float64
		want  float64
	}{
		{[]float64{0, 0, 0, 0}, 0},
		{[]float64{0, 0, inf, inf}, 0.5},
		{[]float64{0, 0, 0, inf}, 1 - math.Log(3)/math.Log(4)},
		{[]float64{0, math.Log(9)}, 0.8 * 0.8 * 0.8},                               // p = .9
		{[]float64{math.Log(2), 0, math.Log(2), inf}, 1 - math.Log(3)/math.Log(4)}, // p = .5
		{[]float64{sure, 0, sure, sure}, 1},
	} {
		if known, _, _ := knownOf(c.costs); math.Abs(known-c.want) > 1e-7 {
			t.Errorf("%v: %v known, want %v", c.costs, known, c.want)
		}
	}
}

// Of two classes with a labeled row each, ten rows are nearly certain of one and two of the other: as many count of
// both. The scores say nothing, or the contrary, which these rows overrule.
func TestOfEachClassAsManyRowsCount(t *testing.T) {
	const n = 14
	values := make([]float64, n)
	p := Problem{Labels: make([]int32, n), Costs: make([]float64, 2*n), Classes: 2}
	for i := range n {
		values[i] = float64(1 + i)
		switch {
		case i < 2:
			p.Labels[i] = int32(i)
		case i < 12:
			p.Labels[i], p.Costs[2*i+1] = -1, 20
		default:
			p.Labels[i], p.Costs[2*i] = -1, 20
		}
	}
	dense, err := rows.NewDense(n, 1, 1, values)
	if err != nil {
		t.Fatal(err)
	}
	p.Rows = dense
	s, err := New(p, Options{UnlabeledWeight: 1}, work.NewJob(1, nil))
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, 2*n)
	scores[2*2+1] = 1
	for name, more := range map[string]More{"sure": s.Sure(), "known": s.Known(scores, 0.2)} {
		sums := [2]float64{}
		for k, y := range more.Class {
			sums[y] += more.Weights[k]
			if want := p.Costs[2*more.Rows[k]] > 0; want != (y == 1) {
				t.Errorf("%s: row %d has class %d", name, more.Rows[k], y)
			}
		}
		if len(more.Rows) != 12 || math.Abs(sums[0]-2) > 1e-6 || math.Abs(sums[1]-2) > 1e-6 {
			t.Errorf("%s: %d rows of weights %v, want 12 of 2 and 2", name, len(more.Rows), sums)
		}
	}
}
