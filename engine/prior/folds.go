package prior

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Split deals rows out to cross-fitted models. Equal rows go to the same model, so that a row of weight 2 is the same
// as the row twice.
type Split struct {
	Folds     int   // those that have rows are 0 ... Folds-1; 0: no labeled row can be held out
	Labeled   []int // [Sample.Labeled] fold that holds the row out; -1: its class has no other row, so none does
	Different int   // number of different labeled rows that are held out
	Unlabeled []int // places in Sample.Unlabeled of the rows that are used, evenly spaced
	Chosen    []int // [Unlabeled] fold
}

const folds = 5

// Split uses at most so many unlabeled rows.
func (s *Sample) Split(job *work.Job, most int) Split {
	n := min(most, len(s.Unlabeled))
	out := Split{Unlabeled: make([]int, n), Chosen: make([]int, n)}
	rows := slices.Clone(s.Labeled)
	for k := range n {
		out.Unlabeled[k] = k * len(s.Unlabeled) / n
		rows = append(rows, s.Unlabeled[out.Unlabeled[k]])
	}
	s.rank = s.ranks(rows)
	out.deal(s)
	if out.Folds == 0 {
		return Split{Labeled: out.Labeled}
	}
	job.EachRow(n, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			row := s.Unlabeled[out.Unlabeled[k]]
			out.Chosen[k] = int(math.Float64bits(s.key(row)) * mixer >> 32 % uint64(out.Folds))
		}
	})
	return out
}

// deal gives the different labeled rows of each class out to the folds in turn.
func (out *Split) deal(s *Sample) {
	out.Labeled = make([]int, len(s.Labeled))
	keys := make([]float64, len(s.Labeled))
	members := make([][]int, s.Classes)
	for k, i := range s.Labeled {
		keys[k], out.Labeled[k] = s.key(i), -1
		members[s.Class[k]] = append(members[s.Class[k]], k)
	}
	dealt := 0 // classes with few rows begin where the one before has ended: all folds get rows
	var held []float64
	for _, rows := range members {
		sort.SliceStable(rows, func(a, b int) bool { return keys[rows[a]] < keys[rows[b]] })
		if len(rows) < 2 || keys[rows[0]] == keys[rows[len(rows)-1]] {
			continue
		}
		for a, k := range rows {
			if a > 0 && keys[k] != keys[rows[a-1]] {
				dealt++
			}
			out.Labeled[k] = dealt % folds
			out.Folds = max(out.Folds, out.Labeled[k]+1)
			held = append(held, keys[k])
		}
		dealt++
	}
	slices.Sort(held)
	out.Different = len(slices.Compact(held))
}

const mixer = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: spreads numbers over all bits

// ranks gives the places in their order of the features that are not zero in all of these rows: the others change
// nothing, so that dense rows and sparse ones, and rows with features of their own added elsewhere, have the same keys.
func (s *Sample) ranks(rows []int32) []int32 {
	occurs := make([]bool, len(s.Number))
	for _, i := range rows {
		s.Rows.Row(int(i), func(col int, value float64) { occurs[col] = occurs[col] || value != 0 })
	}
	var order []int32
	for k := range s.Number {
		if occurs[k] {
			order = append(order, int32(k))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(s.Number[a], s.Number[b]) })
	rank := make([]int32, len(s.Number))
	for place, k := range order {
		rank[k] = int32(place)
	}
	return rank
}

// key is a projection of row i on pseudorandom weights of the features, the same for equal rows and for hardly any
// others. It is rounded to the digits of a float32: its last ones depend on the unit and the order of a row's entries.
func (s *Sample) key(i int32) (key float64) {
	s.Rows.Row(int(i), func(col int, value float64) {
		bits := (uint64(s.rank[col]) + 1) * mixer
		bits = (bits ^ bits>>29) * mixer
		key += value * (float64(bits>>11)/(1<<52) - 1)
	})
	return float64(float32(key))
}
