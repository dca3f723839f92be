package crossfit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	SampleRows   = 5000    // unlabeled rows that are scored for shares, which are then known within 0.7 points
	MostNonZeros = 1 << 22 // of these rows, which are copied; fewer rows where they have more
)

// Scores are those of rows by cross-fitted models of several views, one view behind the other in a row; the scores of a
// view sum to 0 in each row.
type Scores struct {
	Classes, Views int
	Totals         []float64 // [K] weight of the labeled rows of each class, held out or not
	Held           Scored    // labeled rows, by models that have not seen their labels
	Class          []int32   // [Held]
	Unlabeled      Scored    // by the same models
}

// Scored are rows with scores.
type Scored struct {
	Scores []float64 // [n, Views K]
	Weight []float64 // [n]
}

// view scores rows [rows, K] by a model of the labeled rows that are not held out, and perhaps of the unlabeled rows.
type view func(held func(k int) bool, rows []int32) []float64

// Score scores every labeled row that can be held out, and at most so many of the unlabeled rows, by the models of one
// fold each: by supervised ones, and with mixtures also by these. Every machine of a group fits them to the same rows
// of all.
func Score(job *work.Job, s Sample, mixtures bool, most int) *Scores {
	s = s.part(job, s.most(job, most))
	job = job.Local()
	out := &Scores{Classes: s.Classes, Totals: s.totals()}
	split := s.Split(job, len(s.Unlabeled))
	if split.Folds == 0 {
		return out
	}
	views := []view{s.supervised(job)}
	if mixtures {
		if mixture := s.mixtureView(job); mixture != nil {
			views = append(views, mixture)
		}
	}
	out.Views = len(views)
	for f := range split.Folds {
		held := func(k int) bool { return split.Labeled[k] == f }
		var rows []int32
		for k, i := range s.Labeled {
			if held(k) {
				rows, out.Class = append(rows, i), append(out.Class, s.Class[k])
				out.Held.Weight = append(out.Held.Weight, s.LabeledWeight[k])
			}
		}
		n := len(rows)
		for k, i := range s.Unlabeled {
			if split.Chosen[k] == f {
				rows, out.Unlabeled.Weight = append(rows, i), append(out.Unlabeled.Weight, s.UnlabeledWeight[k])
			}
		}
		scores := beside(views, held, rows, s.Classes)
		cut := n * len(views) * s.Classes
		out.Held.Scores = append(out.Held.Scores, scores[:cut]...)
		out.Unlabeled.Scores = append(out.Unlabeled.Scores, scores[cut:]...)
	}
	return out
}

// most is the number of unlabeled rows to use of so many, of all machines.
func (s *Sample) most(job *work.Job, rows int) int {
	counts := []int64{int64(len(s.Unlabeled)), int64(s.Rows.Subset(s.Unlabeled).NonZeros())}
	job.ReduceCounts(counts)
	return int(min(int64(rows), counts[0]*MostNonZeros/max(1, counts[1])))
}

// beside puts the scores of views one behind the other in each row [rows, views K].
func beside(views []view, held func(k int) bool, rows []int32, classes int) []float64 {
	all := make([]float64, len(rows)*len(views)*classes)
	for v, score := range views {
		scores := score(held, rows)
		for i := range rows {
			dst := all[(i*len(views)+v)*classes:][:classes]
			copy(dst, scores[i*classes:])
			mean := vector.Sum(dst) / float64(classes)
			for y := range dst {
				dst[y] -= mean
			}
		}
	}
	return all
}

// Known reports for each class [K] whether a row of it was held out.
func (s *Scores) Known() []bool {
	known := make([]bool, s.Classes)
	for y := range known {
		known[y] = slices.Contains(s.Class, int32(y))
	}
	return known
}

// Wrong is the weight [Views] of the rows held out to which a view gives the largest score of another class.
func (s *Scores) Wrong() []float64 {
	wrong := make([]float64, s.Views)
	for i, y := range s.Class {
		for v := range wrong {
			if row := s.Held.Scores[(i*s.Views+v)*s.Classes:][:s.Classes]; vector.Largest(row) != int(y) {
				wrong[v] += s.Held.Weight[i]
			}
		}
	}
	return wrong
}
