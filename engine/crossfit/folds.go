// Package crossfit scores labeled rows by models that have not seen their labels, and unlabeled rows by the same
// models: for class shares, and temperatures of probabilities. Start at HeldOut.
package crossfit

import (
	"cmp"
	"math"
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

// holdOut assigns the distinct labeled rows of each class to the folds in turn. Classes come in an order that their
// numbers have no part in; folds go on from class to class, so that all get rows.
func (out *Split) holdOut(s *sample.Sample, keys []uint64) {
	out.Labeled = slices.Repeat([]int{-1}, len(s.Labeled))
	known := make([]bool, s.Classes()) // by a description, which is never held out, nor is a row that equals it
	key, described := func(k int) uint64 { return keys[s.Labeled[k]] }, map[uint64]bool{}
	for k, y := range s.Class {
		if s.Describes[k] {
			known[y], described[key(k)] = true, true
		}
	}
	var places []int
	first, last := slices.Repeat([]uint64{math.MaxUint64}, s.Classes()), make([]uint64, s.Classes()) // keys of each class
	for k, y := range s.Class {
		if !described[key(k)] {
			places = append(places, k)
			first[y], last[y] = min(first[y], key(k)), max(last[y], key(k))
		}
	}
	places = slices.DeleteFunc(places, func(k int) bool {
		y := s.Class[k]
		return !known[y] && first[y] == last[y]
	})
	slices.SortStableFunc(places, func(a, b int) int {
		of, other := s.Class[a], s.Class[b]
		return cmp.Or(cmp.Compare(first[of], first[other]), cmp.Compare(of, other), cmp.Compare(key(a), key(b)))
	})
	distinct := 0
	for a, k := range places {
		if a == 0 || s.Class[k] != s.Class[places[a-1]] || key(k) != key(places[a-1]) {
			distinct++
		}
		out.Labeled[k] = (distinct - 1) % folds
	}
	out.Folds = min(distinct, folds)
}

// Scores are scores by cross-fitted models.
type Scores struct {
	Classes   int
	Totals    []float64 // [K] weight of the labeled rows of each class, held out or not
	Held      Scored    // labeled rows, by models that have not seen their labels
	Class     []int32   // [Held]
	Unlabeled Scored    // by the same models
}

type Scored struct {
	Views  [][]float64 // of each kind of model the scores [n, K], those of a row sum to 0
	Weight []float64   // [n]
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

// HeldOut scores the rows of every fold by its models: score returns the scores [rows, K] of Fold.Rows by each view.
func HeldOut(s *sample.Sample, split *Split, views int, score func(f *Fold) ([][]float64, error)) (*Scores, error) {
	out := &Scores{Classes: s.Classes(), Totals: s.All.DrawnRows,
		Held: Scored{Views: make([][]float64, views)}, Unlabeled: Scored{Views: make([][]float64, views)}}
	for number := range split.Folds {
		f := &Fold{Split: split, Number: number}
		for k, i := range s.Labeled {
			if f.Held(k) {
				f.Rows, out.Class = append(f.Rows, i), append(out.Class, s.Class[k])
				out.Held.Weight = append(out.Held.Weight, s.LabeledRows[k])
			}
		}
		cut := len(f.Rows) * out.Classes
		for k, place := range split.Unlabeled {
			if split.Chosen[k] == number {
				f.Chosen, f.Rows = append(f.Chosen, place), append(f.Rows, s.Unlabeled[place])
				out.Unlabeled.Weight = append(out.Unlabeled.Weight, s.UnlabeledRows[place])
			}
		}
		scores, err := score(f)
		if err != nil {
			return nil, err
		}
		for v, view := range scores {
			for row := range slices.Chunk(view, out.Classes) {
				floats.AddConst(-vector.Sum(row)/float64(out.Classes), row)
			}
			out.Held.Views[v] = append(out.Held.Views[v], view[:cut]...)
			out.Unlabeled.Views[v] = append(out.Unlabeled.Views[v], view[cut:]...)
		}
	}
	return out, nil
}

// Wrong is the weight of the rows held out whose class has not the largest of these scores [Held, K].
func (s *Scores) Wrong(scores []float64) (wrong float64) {
	for i, y := range s.Class {
		if vector.Largest(scores[i*s.Classes:(i+1)*s.Classes]) != int(y) {
			wrong += s.Held.Weight[i]
		}
	}
	return wrong
}
