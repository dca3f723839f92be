// Package crossfit scores labeled rows by models that have not seen their labels, and unlabeled rows by the same
// models: for class shares, and temperatures of probabilities. Start at HeldOut.
package crossfit

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Split assigns rows to cross-fitted models, equal rows to the same one: weight 2 is the same as the row twice.
type Split struct {
	Folds     int   // with rows; 0: no labeled row can be held out
	Labeled   []int // [Sample.Labeled] fold that holds the row out; -1: none, as its class has no other row
	Unlabeled []int // places in Sample.Unlabeled of the rows that are used
	Chosen    []int // [Unlabeled] fold
}

const folds = 5

// NewSplit uses about maxRows unlabeled rows. It is for rows of one machine.
func NewSplit(s *sample.Sample, maxRows int) Split {
	keys, out := s.Keys(s.Job), Split{}
	out.holdOut(s, keys)
	if out.Folds == 0 {
		return out
	}
	out.Unlabeled = s.Drawn(maxRows)
	for _, place := range out.Unlabeled {
		out.Chosen = append(out.Chosen, int(keys[s.Unlabeled[place]]*sample.Mixer>>32%uint64(out.Folds)))
	}
	return out
}

// holdOut assigns the distinct labeled rows of each class to the folds in turn.
func (out *Split) holdOut(s *sample.Sample, keys []uint64) {
	out.Labeled = slices.Repeat([]int{-1}, len(s.Labeled))
	members := make([][]int, s.Classes())
	known := make([]bool, s.Classes()) // by a description, which is never held out, nor is a row that equals it
	key, described := func(k int) uint64 { return keys[s.Labeled[k]] }, map[uint64]bool{}
	for k, y := range s.Class {
		if s.Describes[k] {
			known[y], described[key(k)] = true, true
		}
	}
	for k, y := range s.Class {
		if !described[key(k)] {
			members[y] = append(members[y], k)
		}
	}
	members = slices.DeleteFunc(members, func(rows []int) bool { return len(rows) == 0 })
	for _, rows := range members {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	}
	// Classes come in an order that their numbers have no part in; folds go on from class to class, so that all get rows.
	slices.SortStableFunc(members, func(a, b []int) int { return cmp.Compare(key(a[0]), key(b[0])) })
	next := 0
	for _, rows := range members {
		if !known[s.Class[rows[0]]] && key(rows[0]) == key(rows[len(rows)-1]) {
			continue
		}
		for a, k := range rows {
			if a > 0 && key(k) != key(rows[a-1]) {
				next++
			}
			out.Labeled[k] = next % folds
			out.Folds = max(out.Folds, out.Labeled[k]+1)
		}
		next++
	}
}

// Scores are scores by cross-fitted models of several views, one view after the other in a row.
type Scores struct {
	Classes, Views int
	Totals         []float64 // [K] weight of the labeled rows of each class, held out or not
	Held           Scored    // labeled rows, by models that have not seen their labels
	Class          []int32   // [Held]
	Unlabeled      Scored    // by the same models
}

type Scored struct {
	Scores []float64 // [n, Views K], those of a view sum to 0
	Weight []float64 // [n]
}

// Fold has the labels that the models of a fold may not see, and the rows that they score.
type Fold struct {
	Split  *Split
	Number int
	Chosen []int   // places in Sample.Unlabeled
	Rows   []int32 // to score: labeled ones held out, then Chosen
}

// Held reports whether the label of a labeled row is held out.
func (f *Fold) Held(k int) bool { return f.Split.Labeled[k] == f.Number }

// Kept reports whether it is not.
func (f *Fold) Kept(k int) bool { return !f.Held(k) }

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

// HeldOut scores the rows of every fold by its models: score returns the scores [rows, K] of Fold.Rows by each view.
func HeldOut(s *sample.Sample, split *Split, views int, score func(f *Fold) ([][]float64, error)) (*Scores, error) {
	out := &Scores{Classes: s.Classes(), Totals: s.DrawnRows(), Views: views}
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
		joined := joined(scores, out.Classes)
		cut := (len(f.Rows) - len(f.Chosen)) * views * out.Classes
		out.Held.Scores = append(out.Held.Scores, joined[:cut]...)
		out.Unlabeled.Scores = append(out.Unlabeled.Scores, joined[cut:]...)
	}
	return out, nil
}

// joined puts the centered scores of the views side by side [rows, views K].
func joined(views [][]float64, classes int) []float64 {
	all := make([]float64, 0, len(views)*len(views[0]))
	for at := 0; at < len(views[0]); at += classes {
		for _, scores := range views {
			row := scores[at : at+classes]
			all = append(all, row...)
			floats.AddConst(-vector.Sum(row)/float64(classes), all[len(all)-classes:])
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
