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
	return func(held func(k int) bool, rows []int32) []float64 {
		return fit(s, job, labeled, feature, held).score(job, s.Rows, rows)
	}
}

// linear is a model of the features that labeled rows have.
type linear struct {
	place     []int32 // [Rows.Cols] number of the feature among those of coef, or -1
	classes   int
	coef      []float64 // [features, K]
	intercept []float64 // [K]
}

// fit learns from the labeled rows that are not held out.
func fit(s *sample.Sample, job *work.Job, labeled *rows.Matrix, feature []int32, held func(k int) bool) *linear {
	tree, err := scores.NewTree(s.Classes(), scores.FlatParents(s.Classes()))
	if err != nil {
		panic(err)
	}
	r := risk.New(job, labeled, tree, loss.OneAgainstRest{Margin: loss.SquaredHinge{}},
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
	m := &linear{place: slices.Repeat([]int32{-1}, s.Rows.Cols()), classes: s.Classes()}
	for k, j := range feature {
		m.place[j] = int32(k)
	}
	m.coef, m.intercept = r.Linear()
	return m
}

// score are the scores [list, K] of rows.
func (m *linear) score(job *work.Job, rows *rows.Matrix, list []int32) []float64 {
	scores := make([]float64, len(list)*m.classes)
	job.Every(len(list), func(a int) {
		dst := scores[a*m.classes : (a+1)*m.classes]
		copy(dst, m.intercept)
		rows.Row(int(list[a]), func(col int, value float64) {
			if j := int(m.place[col]); j >= 0 {
				vector.Add(dst, value, m.coef[j*m.classes:])
			}
		})
	})
	job.Check()
	return scores
}
