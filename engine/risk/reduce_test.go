package risk

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/work"
)

// supervised fits rows with classes, of all machines so many.
type supervised func(job *work.Job, rows *rows.Matrix, class []int32, all int, frame Frame) (coef, intercept []float64)

func fitBy(m *scores.Tree, l loss.Classes) supervised {
	return func(job *work.Job, rows *rows.Matrix, class []int32, all int, frame Frame) (coef, intercept []float64) {
		r := New(job, rows, m, l, frame, alpha)
		for i, y := range class {
			r.Cost[i], r.Label[i] = 1/float64(all), y
		}
		r.UpdateSupport()
		minimum(job, r)
		return r.Linear()
	}
}

func minimum(job *work.Job, f interface {
	minimize.Objective
	Dim() int
}) {
	minimize.NewNewton(f.Dim(), job.Pool).Minimize(f, minimize.Limits{Tolerance: 1e-13, MaxSteps: 100})
}

// Rows that several machines share out among them give the model of one machine with all of them.
func TestMachinesFindTheModelOfOne(t *testing.T) {
	const n, d = 9000, 60 // enough for blocks of rows, on one machine and on two
	two := planted.Topics(n, d, n, 0.4, 3)
	five := planted.Classes(n, d, 0, []float64{0.4, 0.2, 0.2, 0.1, 0.1}, 3)
	for name, c := range map[string]struct {
		data planted.Data
		fit  supervised
	}{
		"two classes":          {two, fitBy(scores.Pair(), signed)},
		"maxent":               {five, fitBy(trees(t)["flat"], classLosses["maxent"])},
		"one against the rest": {five, fitBy(trees(t)["flat"], classLosses["one against the rest"])},
	} {
		for _, centered := range []bool{false, true} {
			name := fmt.Sprintf("%s, center %v", name, centered)
			want := fitOn(t, c.data, 1, centered, c.fit)[0]
			for _, count := range []int{2, 3} {
				for k, got := range fitOn(t, c.data, count, centered, c.fit) {
					for j := range want {
						near(t, fmt.Sprintf("%s: number %d on machine %d of %d", name, j, k, count), got[j], want[j], 1e-9)
					}
				}
			}
		}
	}
}

// fitOn gives the model, coefficients and intercepts, that each of several machines finds.
func fitOn(t *testing.T, data planted.Data, count int, centered bool, fit supervised) [][]float64 {
	t.Helper()
	all, models, ranks := data.Rows.Rows(), make([][]float64, count), worktest.NewRanks(count)
	ranks.Run(t, func(k int) {
		var list, class []int32
		for i := range all {
			if min(i%(2*count), count-1) == k { // the last one has more than half
				list, class = append(list, int32(i)), append(class, data.Truth[i])
			}
		}
		job, rows := work.NewJob(2, nil), data.Rows.Selected(work.NewPool(1), list)
		if count > 1 {
			job.Group = &work.Group{Rank: k, Size: count, Sum: func(v []float64) error { return ranks.Sum(k, v) }}
		}
		frame := Frame{Constant: true}
		if centered {
			weights := slices.Repeat([]float64{1 / float64(all)}, len(list))
			frame.Center = make([]float64, rows.Cols())
			rows.AddTransposedOn(job, rows.All(), frame.Center, weights)
		}
		coef, intercept := fit(job, rows, class, all, frame)
		models[k] = slices.Concat(coef, intercept)
	})
	return models
}
