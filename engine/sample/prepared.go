package sample

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Prepared are rows made ready, which samples with different labels can share.
type Prepared struct {
	rows    *rows.Matrix // packed, in units of length
	length  float64      // root of the mean square length of the rows that count
	feature []int32      // [rows.Cols] the problem's number of each packed feature

	weights []float64 // [n] of the problem

	keysOnce sync.Once
	keys     []uint64 // [n] see Keys
}

// Keys are the keys [n] of the rows, see rows.Keys: those that selected rows have in the whole. Features count as
// places in the order of their extreme values, so that neither their order nor columns without values change anything.
// Features with equal extremes share a place at first. Then they come in the order of the sums of their rows' keys.
func (s *Sample) Keys(job *work.Job) []uint64 {
	p := s.prepared
	p.keysOnce.Do(func() {
		if p.keys != nil {
			return
		}
		ends, order := p.rows.Extremes(job, p.weights), numbers(len(p.feature))
		place, tied := ranked(order, func(a, b int32) int { return slices.Compare(ends[2*b:2*b+2], ends[2*a:2*a+2]) })
		before := func(a, b int32) int { return cmp.Compare(place[a], place[b]) }
		for range refinements {
			if tied {
				of := p.rows.Totals(job, p.counted(job, p.rows.Keys(job, place)))
				place, tied = ranked(order, func(a, b int32) int { return cmp.Or(before(a, b), cmp.Compare(of[a], of[b])) })
			}
		}
		place, _ = ranked(order, func(a, b int32) int {
			return cmp.Or(before(a, b), cmp.Compare(p.feature[a], p.feature[b]))
		})
		p.keys = p.rows.Keys(job, place)
	})
	return p.keys
}

const refinements = 2 // of the places, each by two passes over the values

// ranked gives the place of each feature in an order, and whether some share one; it sorts the features.
func ranked(features []int32, order func(a, b int32) int) (place []int32, tied bool) {
	slices.SortFunc(features, order)
	place = make([]int32, len(features))
	for k, j := range features {
		if place[j] = int32(k); k > 0 && order(features[k-1], j) == 0 {
			place[j], tied = place[features[k-1]], true
		}
	}
	return place, tied
}

// counted are keys [n] times the weights of the rows, in whole parts of the smallest one: sums are those of copies.
func (p *Prepared) counted(job *work.Job, keys []uint64) []uint64 {
	const parts, most = 16, 1 << 40
	smallest := math.Inf(1)
	for _, w := range p.weights {
		if w > 0 {
			smallest = min(smallest, w)
		}
	}
	smallest, _ = job.Range(smallest, 0)
	for i, w := range p.weights {
		keys[i] *= uint64(math.Round(min(parts*(w/smallest), most)))
	}
	return keys
}

func (p Problem) Prepare(job *work.Job) *Prepared {
	out := &Prepared{weights: p.weights()}
	out.length = p.Rows.RootMeanSquare(job, out.weights)
	out.rows, out.feature = p.Rows.Packed(job)
	out.rows = out.rows.Scaled(1 / out.length)
	job.CountAndCheck(2 * int64(out.rows.NonZeros()))
	return out
}
