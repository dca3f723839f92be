package crossfit

import (
	"cmp"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
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
func NewSplit(s *sample.Sample, job *work.Job, maxRows int) Split {
	out := Split{Unlabeled: drawn(s, job, maxRows)}
	rows := make([]int32, len(out.Unlabeled))
	for k, place := range out.Unlabeled {
		rows[k] = s.Unlabeled[place]
	}
	rank := ranks(s, rows)
	out.holdOut(s, rank)
	if out.Folds == 0 {
		return Split{Labeled: out.Labeled}
	}
	out.Chosen = make([]int, len(rows))
	job.Every(len(rows), func(k int) {
		out.Chosen[k] = int(math.Float64bits(key(s.Rows, rows[k], rank)) * mixer >> 32 % uint64(out.Folds))
	})
	return out
}

// drawn are places in Unlabeled of about maxRows rows of all machines, drawn by their keys: the same rows in any order,
// and of rows with the same key that part.
func drawn(s *sample.Sample, job *work.Job, maxRows int) (places []int) {
	total := job.Count(len(s.Unlabeled))
	if total <= maxRows {
		for place := range s.Unlabeled {
			places = append(places, place)
		}
		return places
	}
	keys, bound := s.Keys(job), uint64(float64(maxRows)/float64(total)*(1<<32))
	seen := map[uint64]uint64{} // rows with a key
	for place, i := range s.Unlabeled {
		key := keys[i]
		if (key+seen[key])*mixer>>32 < bound {
			places = append(places, place)
		}
		seen[key]++
	}
	return places
}

// holdOut assigns the distinct labeled rows of each class to the folds in turn.
func (out *Split) holdOut(s *sample.Sample, rank []int32) {
	out.Labeled = make([]int, len(s.Labeled))
	keys := make([]float64, len(s.Labeled))
	members := make([][]int, s.Classes())
	for k, i := range s.Labeled {
		keys[k], out.Labeled[k] = key(s.Rows, i, rank), -1
		members[s.Class[k]] = append(members[s.Class[k]], k)
	}
	next := 0 // goes on from class to class, so that all folds get rows
	for _, rows := range members {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
		if len(rows) < 2 || keys[rows[0]] == keys[rows[len(rows)-1]] {
			continue
		}
		for a, k := range rows {
			if a > 0 && keys[k] != keys[rows[a-1]] {
				next++
			}
			out.Labeled[k] = next % folds
			out.Folds = max(out.Folds, out.Labeled[k]+1)
		}
		next++
	}
}

const mixer = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: spreads numbers over all bits

// ranks numbers the features that occur in the labeled and in these unlabeled rows, in the problem's order, so that
// dense and sparse rows, also among further rows with other features, have the same keys.
func ranks(s *sample.Sample, unlabeled []int32) []int32 {
	occurs, order := make([]bool, len(s.Feature)), []int32(nil)
	for _, i := range slices.Concat(s.Labeled, unlabeled) {
		s.Rows.Row(int(i), func(col int, value float64) {
			if value != 0 && !occurs[col] {
				occurs[col], order = true, append(order, int32(col))
			}
		})
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(s.Feature[a], s.Feature[b]) })
	rank := make([]int32, len(s.Feature))
	for place, k := range order {
		rank[k] = int32(place)
	}
	return rank
}

// key is a projection of row i on pseudorandom weights of the features, the same for equal rows. It is rounded to a
// float32, as its last digits depend on the unit and the order of a row's entries.
func key(rows *rows.Matrix, i int32, rank []int32) (projection float64) {
	rows.Row(int(i), func(col int, value float64) {
		bits := (uint64(rank[col]) + 1) * mixer
		bits = (bits ^ bits>>29) * mixer
		projection += value * (float64(bits>>11)/(1<<52) - 1)
	})
	return float64(float32(projection))
}
