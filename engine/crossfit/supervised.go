package crossfit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	strength  = 1e-3 // α of the supervised models, with the squared hinge for every class against the others
	tolerance = 1e-6 // of their solves: looser ones depend on rounding
)

// supervised is the view of linear models of the labeled rows.
func supervised(s *sample.Sample, job *work.Job) view {
	labeled, feature := s.Rows.Selected(job.Pool, s.Labeled).Packed(job)
	place := slices.Repeat([]int32{-1}, s.Rows.Cols()) // of a feature among those of labeled rows
	for k, j := range feature {
		place[j] = int32(k)
	}
	return func(held func(k int) bool, rows []int32) []float64 {
		coef, intercept := fit(s, job, labeled, held)
		classes := len(intercept)
		scores := make([]float64, len(rows)*classes)
		job.Every(len(rows), func(a int) {
			dst := scores[a*classes : (a+1)*classes]
			copy(dst, intercept)
			s.Rows.Row(int(rows[a]), func(col int, value float64) {
				if j := int(place[col]); j >= 0 {
					vector.Add(dst, value, coef[j*classes:])
				}
			})
		})
		job.Check()
		return scores
	}
}

// fit learns from the labeled rows that are not held out.
func fit(s *sample.Sample, job *work.Job, labeled *rows.Matrix, held func(k int) bool) (coef, intercept []float64) {
	r := risk.New(job, labeled, scores.Flat(s.Classes()), loss.OneAgainstRest{Margin: loss.SquaredHinge{}},
		risk.Frame{Constant: s.Options.FitIntercept}, strength)
	var rows []int32
	total := 0.0
	for k, weight := range s.LabeledRows {
		if !held(k) {
			rows, total = append(rows, int32(k)), total+weight
		}
	}
	for _, k := range rows {
		r.Label[k], r.Cost[k] = s.Class[k], s.LabeledRows[k]/total
	}
	r.UpdateSupport()
	var copies []float64 // nil: weights are no numbers of copies
	if s.Copies != nil {
		copies = s.LabeledRows
	}
	r.PreconditionBy(rows, copies)
	minimize.NewNewton(r.Dim(), job.Pool).Minimize(r, minimize.Limits{Tolerance: tolerance, MaxSteps: 50, Forcing: 0.2})
	return r.Linear()
}
