package shares

import (
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	sampleRows = 5000 // unlabeled rows that are scored: shares of them are known within 0.7 points
	strength   = 1e-3 // α of the supervised models, with the squared hinge for every class against the others
	tolerance  = 1e-6 // of their solves: looser ones hang on rounding, and shares with them
)

// Evidence is what cross-fitted scores say of the classes.
type Evidence struct {
	classes   int
	totals    []float64 // [K] weight of the labeled rows of each class, held out or not
	held      scored    // labeled rows, by models that have not seen their labels
	class     []int32   // [held]
	unlabeled scored    // by the same models, one a row
}

// scored are rows with scores.
type scored struct {
	scores []float64 // [n, K]
	weight []float64 // [n]
}

func (r *scored) add(scores []float64, weight float64) {
	r.scores, r.weight = append(r.scores, scores...), append(r.weight, weight)
}

// Gather scores every labeled row that can be held out, and a sample of the unlabeled rows, by one of the cross-fitted
// models each.
func Gather(job *work.Job, s Sample) *Evidence {
	s = s.gather(job)
	e := &Evidence{classes: s.Classes, totals: s.totals()}
	split, alone := s.Split(job, sampleRows), job.Local()
	if split.Folds == 0 {
		return e
	}
	labeled, feature := s.labeled().Selected(alone.Pool, s.Labeled).Packed(alone)
	for f := range split.Folds {
		held := func(k int) bool { return split.Labeled[k] == f }
		m := s.fit(alone, labeled, feature, held)
		m.score(alone, s.labeled(), len(s.Labeled), held, func(k int) int32 { return s.Labeled[k] },
			func(k int, scores []float64) {
				e.held.add(scores, s.LabeledWeight[k])
				e.class = append(e.class, s.Class[k])
			})
		m.score(alone, s.Rows, len(split.Unlabeled), func(k int) bool { return split.Chosen[k] == f },
			func(k int) int32 { return s.Unlabeled[split.Unlabeled[k]] },
			func(k int, scores []float64) { e.unlabeled.add(scores, s.UnlabeledWeight[split.Unlabeled[k]]) })
	}
	e.unlabeled.scores, _ = job.Gather(e.unlabeled.scores)
	e.unlabeled.weight, _ = job.Gather(e.unlabeled.weight)
	return e
}

// supervised is a model of the features that labeled rows have.
type supervised struct {
	place     []int32 // [Rows.Cols] number of the feature among those of coef, or -1
	classes   int
	coef      []float64 // [features, K]
	intercept []float64 // [K]
}

// fit learns from the labeled rows that are not held out.
func (s *Sample) fit(job *work.Job, labeled *rows.Matrix, feature []int32, held func(k int) bool) *supervised {
	tree, err := scores.NewTree(s.Classes, scores.FlatParents(s.Classes))
	if err != nil {
		panic(err)
	}
	r := risk.New(job, labeled, tree, loss.OneAgainstRest{Margin: loss.SquaredHinge{}},
		risk.Frame{Constant: s.Intercept}, strength, labeled.Rows() < labeled.Cols())
	var rows []int32
	total := 0.0
	for k, weight := range s.LabeledWeight {
		if !held(k) {
			rows, total = append(rows, int32(k)), total+weight
		}
	}
	for _, k := range rows {
		r.Label[k], r.Cost[k] = s.Class[k], s.LabeledWeight[k]/total
	}
	r.UpdateSupport()
	r.PreconditionBy(rows, s.copies())
	minimize.NewNewton(r.Dim(), job.Pool).Minimize(r, minimize.Limits{Tolerance: tolerance, MaxSteps: 50, Forcing: 0.2})
	m := &supervised{place: make([]int32, s.Rows.Cols()), classes: s.Classes}
	for j := range m.place {
		m.place[j] = -1
	}
	for k, j := range feature {
		m.place[j] = int32(k)
	}
	m.coef, m.intercept = r.Linear()
	return m
}

// score gives take the scores [K] of those of n rows that are wanted, in order; row k of them has the number row(k) of
// rows.
func (m *supervised) score(
	job *work.Job, rows *rows.Matrix, n int, wanted func(k int) bool, row func(k int) int32,
	take func(k int, scores []float64),
) {
	var list []int
	for k := range n {
		if wanted(k) {
			list = append(list, k)
		}
	}
	scores := make([]float64, len(list)*m.classes)
	job.EachRow(len(list), func(lo, hi int) {
		for a := lo; a < hi; a++ {
			dst := scores[a*m.classes : (a+1)*m.classes]
			copy(dst, m.intercept)
			rows.Row(int(row(list[a])), func(col int, value float64) {
				if at := int(m.place[col]); at >= 0 {
					for y, w := range m.coef[at*m.classes : (at+1)*m.classes] {
						dst[y] += value * w
					}
				}
			})
		}
	})
	job.Check()
	for a, k := range list {
		take(k, scores[a*m.classes:(a+1)*m.classes])
	}
}
