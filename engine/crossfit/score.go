// Package crossfit scores labeled rows by models that have not seen their labels, and unlabeled rows by the same
// models: for class shares, and temperatures of probabilities. Start at Score.
package crossfit

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// startRows is the number of unlabeled rows from ManyRows on, where scores also show whether a mixture is a good start.
const startRows = 1 << 14

// ManyRows is a number of unlabeled rows; replaced in tests.
var ManyRows = 1 << 15

// Scores are scores by cross-fitted models of several views, one view after the other in a row.
type Scores struct {
	Classes, Views int
	Models         int       // fitted
	Visited        int64     // non-zeros read by these
	Totals         []float64 // [K] weight of the labeled rows of each class, held out or not
	Held           Scored    // labeled rows, by models that have not seen their labels
	Class          []int32   // [Held]
	Unlabeled      Scored    // by the same models
}

type Scored struct {
	Scores []float64 // [n, Views K]
	Weight []float64 // [n]
}

// Fold has the labels that the model of a fold may not see, and the rows that it scores.
type Fold struct {
	Split  *Split
	Number int
	Chosen []int   // places in Sample.Unlabeled
	Rows   []int32 // to score: labeled ones held out, then Chosen
}

// Held reports whether the label of a labeled row is held out.
func (f *Fold) Held(k int) bool { return f.Split.Labeled[k] == f.Number }

func (out *Split) fold(s *sample.Sample, number int) *Fold {
	f := &Fold{Split: out, Number: number}
	for k, i := range s.Labeled {
		if f.Held(k) {
			f.Rows = append(f.Rows, i)
		}
	}
	for k, place := range out.Unlabeled {
		if out.Chosen[k] == number {
			f.Chosen, f.Rows = append(f.Chosen, place), append(f.Rows, s.Unlabeled[place])
		}
	}
	return f
}

// HeldOut scores the rows of every fold by its model: score returns the scores [rows, views K] of Fold.Rows.
func HeldOut(s *sample.Sample, split *Split, views int, score func(f *Fold) ([]float64, error)) (*Scores, error) {
	out := &Scores{Classes: s.Classes(), Totals: s.ClassRows(), Views: views, Models: split.Folds * views}
	for number := range split.Folds {
		f := split.fold(s, number)
		scores, err := score(f)
		if err != nil {
			return nil, err
		}
		for k, y := range s.Class {
			if f.Held(k) {
				out.Class, out.Held.Weight = append(out.Class, y), append(out.Held.Weight, s.LabeledRows[k])
			}
		}
		for _, place := range f.Chosen {
			out.Unlabeled.Weight = append(out.Unlabeled.Weight, s.UnlabeledRows[place])
		}
		cut := (len(f.Rows) - len(f.Chosen)) * views * out.Classes
		out.Held.Scores = append(out.Held.Scores, scores[:cut]...)
		out.Unlabeled.Scores = append(out.Unlabeled.Scores, scores[cut:]...)
	}
	return out, nil
}

// view scores rows [rows, K] by a model of the labeled rows that are not held out, and perhaps of unlabeled rows.
type view func(held func(k int) bool, rows []int32) []float64

// Score scores the labeled rows that can be held out, and a part of the unlabeled rows, each by supervised models and
// mixtures of one fold. Every machine of a group fits these to the same rows of all.
func Score(s *sample.Sample, job *work.Job) *Scores {
	rows := sample.CrossFitted
	if s.All.Unlabeled >= ManyRows {
		rows = startRows
	}
	counts := []int64{int64(len(s.Unlabeled)), int64(s.Rows.Subset(s.Unlabeled).NonZeros())}
	job.ReduceCounts(counts)
	s = part(s, job, int(min(int64(rows), counts[0]*sample.CrossFittedSize/max(1, counts[1]))))
	job = job.Local()
	split := NewSplit(s, job, len(s.Unlabeled))
	var views []view
	if split.Folds > 0 {
		views = append(views, supervised(s, job))
		packed, _ := s.Rows.Packed(job)
		if mixture := mixtureOf(s, job, packed); mixture != nil {
			views = append(views, mixture)
		}
	}
	out, _ := HeldOut(s, &split, len(views), func(f *Fold) ([]float64, error) {
		return joined(views, f.Held, f.Rows, s.Classes()), nil // never an error
	})
	out.Visited = job.Visited()
	return out
}

// joined puts the scores of the views side by side [rows, views K]; the scores of a view sum to 0.
func joined(views []view, held func(k int) bool, rows []int32, classes int) []float64 {
	all := make([]float64, len(rows)*len(views)*classes)
	for v, score := range views {
		scores := score(held, rows)
		for i := range rows {
			dst := all[(i*len(views)+v)*classes:][:classes]
			copy(dst, scores[i*classes:])
			floats.AddConst(-vector.Sum(dst)/float64(classes), dst)
		}
	}
	return all
}

// Known reports for each class [K] whether a row of the class was held out.
func (s *Scores) Known() []bool {
	known := make([]bool, s.Classes)
	for y := range known {
		known[y] = slices.Contains(s.Class, int32(y))
	}
	return known
}

// Wrong is the weight [Views] of the rows held out whose class has not the largest score of a view.
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

// part copies the labeled rows and about maxRows of the unlabeled rows of all machines: labeled rows first.
func part(whole *sample.Sample, job *work.Job, maxRows int) *sample.Sample {
	copied := *whole
	s := &copied
	list, values := []int32(nil), []float64(nil) // class or -1, and weight
	for k, i := range s.Labeled {
		list, values = append(list, i), append(values, float64(s.Class[k]), s.LabeledRows[k])
	}
	for _, place := range drawn(s, job, maxRows) {
		list, values = append(list, s.Unlabeled[place]), append(values, -1, s.UnlabeledRows[place])
	}
	if job.Group == nil {
		s.Rows = s.Rows.Selected(job.Pool, list)
	} else {
		s.Rows, _ = s.Rows.Gathered(job, list)
		values, _ = job.Gather(values)
	}
	s.Labeled, s.Class, s.LabeledRows, s.Unlabeled, s.UnlabeledRows = nil, nil, nil, nil, nil
	s.Labels = slices.Repeat([]int32{-1}, len(values)/2)
	for i := range s.Labels {
		s.Add(i, int32(values[2*i]), values[2*i+1])
	}
	return s
}

// LabelShares are the class shares [K] of the labeled rows of all machines.
func LabelShares(s *sample.Sample, job *work.Job) []float64 {
	sums := append(s.ClassRows(), vector.Sum(s.LabeledRows))
	job.Reduce(sums)
	shares := sums[:s.Classes()]
	for y := range shares {
		shares[y] /= sums[s.Classes()]
	}
	return shares
}

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
