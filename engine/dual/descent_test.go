package dual

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/work"
)

func frames(data planted.Data) map[string]risk.Frame {
	n := data.Rows.Rows()
	mean, weights := make([]float64, data.Rows.Cols()), make([]float64, n)
	for i := range weights {
		weights[i] = 1 / float64(n)
	}
	data.Rows.TransposedTimes(work.NewJob(1, nil), mean, weights)
	return map[string]risk.Frame{"none": {}, "constant": {Constant: true}, "centred": {Center: mean, Mean: []float64{-0.2}}}
}

func descend(data planted.Data, frame risk.Frame, squared bool, cost float64) *Descent {
	d := New(work.NewJob(1, nil), data.Rows, frame, squared, 0)
	for i, class := range data.Truth {
		d.Sign[i], d.Cost[i] = 2*float64(class)-1, cost
	}
	return d
}

// The primal objective is recomputed from the classifier; the gap proves it optimal, whatever the solver believes.
func TestGapClosesAndThePrimalIsTrue(t *testing.T) {
	data := planted.Topics(300, 60, 10, 0.3, 3)
	for name, frame := range frames(data) {
		for _, squared := range []bool{false, true} {
			const cost = 0.7
			d := descend(data, frame, squared, cost)
			primal, gap := d.Solve(1e-7, 5000)
			if !(gap >= -1e-9 && gap <= 1e-7*primal) {
				t.Errorf("%s, squared %v: gap %v of %v", name, squared, gap, primal)
			}
			coef, intercept := d.Linear()
			want := 0.0
			for _, w := range coef {
				want += w * w / 2
			}
			if frame.Constant {
				want += intercept * intercept / 2
			}
			for i, row := range data.Dense {
				f := intercept
				for j, v := range row {
					f += v * coef[j]
				}
				slack := max(0, 1-d.Sign[i]*f)
				if squared {
					slack *= slack / 2
				}
				want += cost * slack
			}
			if math.Abs(primal-want) > 1e-9*want {
				t.Errorf("%s, squared %v: primal %v, recomputed %v", name, squared, primal, want)
			}
		}
	}
}

// A row that is the center itself has no length in its frame, and no negative one either.
func TestRowsAtTheCenterHaveNoNegativeSquare(t *testing.T) {
	const n = 50
	indptr, indices, values, center := []int64{0}, []int32(nil), []float64(nil), make([]float64, 7)
	for j := range center {
		center[j] = 0.1 * float64(j+1) / 3
	}
	for range n {
		for j, v := range center {
			indices, values = append(indices, int32(j)), append(values, v)
		}
		indptr = append(indptr, int64(len(indices)))
	}
	rows, err := rows.New(len(center), indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	for shrink := range 20 { // the center as it comes out of a sum, off by a few last bits
		for j := range center {
			center[j] = values[j] * (1 + float64(shrink-10)*1e-16)
		}
		for i, square := range New(work.NewJob(1, nil), rows, risk.Frame{Center: center}, false, 0).square {
			if square < 0 {
				t.Fatalf("row %d has the square %v", i, square)
			}
		}
	}
}

// With the squared hinge the dual and Newton's method in the primal solve the same problem.
func TestSquaredHingeAgreesWithNewton(t *testing.T) {
	data := planted.Topics(300, 60, 10, 0.3, 4)
	const alpha = 0.02
	for name, frame := range frames(data) {
		signed := loss.Signed{Margin: loss.SquaredHinge{}}
		r := risk.New(work.NewJob(1, nil), data.Rows, scores.Pair{}, signed, frame, alpha, false)
		for i, class := range data.Truth {
			r.Cost[i], r.Label[i] = 1.0/300, class
		}
		r.UpdateSupport()
		outcome := minimize.NewNewton(r.Dim(), work.NewPool(1)).Minimize(r, minimize.Limits{Tolerance: 1e-10, MaxSteps: 100})
		primal, _ := descend(data, frame, true, 1/(300*alpha)).Solve(1e-10, 20000)
		if math.Abs(alpha*primal-outcome.Value) > 1e-8*outcome.Value {
			t.Errorf("%s: dual %v, Newton %v", name, alpha*primal, outcome.Value)
		}
	}
}

// A row without features has a margin that nothing changes; its dual must go to its bound for the gap to close.
func TestEmptyRowsDoNotKeepTheGapOpen(t *testing.T) {
	rows, err := rows.New(2, []int32{0, 1, 2, 2, 2}, []int32{0, 1}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	d := New(work.NewJob(1, nil), rows, risk.Frame{}, false, 0)
	for i := range d.Sign {
		d.Sign[i], d.Cost[i] = float64(1-2*(i%2)), 3
	}
	if primal, gap := d.Solve(1e-8, 100); gap > 1e-8*primal {
		t.Errorf("gap %v of %v", gap, primal)
	}
}

func TestRelabelAndNewCostsKeepTheWeightsInStep(t *testing.T) {
	data := planted.Topics(200, 60, 10, 0.3, 5)
	for name, frame := range frames(data) {
		warm := descend(data, frame, false, 0.5)
		warm.Solve(1e-3, 50)
		cold := descend(data, frame, false, 0.5)
		for i := range int32(20) {
			warm.Relabel(i, -warm.Sign[i])
			warm.Cost[i] = 0.1
			cold.Sign[i], cold.Cost[i] = -cold.Sign[i], 0.1
		}
		got, _ := warm.Solve(1e-8, 20000)
		want, _ := cold.Solve(1e-8, 20000)
		if math.Abs(got-want) > 1e-7*want {
			t.Errorf("%s: warm %v, cold %v", name, got, want)
		}
	}
}
