package sample

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Prepared are rows made ready, which samples with other labels can share.
type Prepared struct {
	Rows    *rows.Matrix // the problem's, packed, in units of Length
	Length  float64      // root of the mean square length of the problem's rows that count
	Feature []int32      // [Rows.Cols] the problem's number of each packed feature

	weights []float64 // [n] of the problem

	keysOnce sync.Once
	keys     []uint64 // [n] see Keys
}

// Keys are the keys [n] of the rows, see rows.Keys: those that selected rows have in the whole. Features count as
// places in the order of their extreme values, so that neither their order nor columns without values change anything.
// Features with equal extremes share a place at first. Then they come in the order of the sums of their rows' keys.
func (p *Prepared) Keys(job *work.Job) []uint64 {
	p.keysOnce.Do(func() {
		place, order, full := p.places(job)
		place, _ = ranked(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(place[a], place[b]), cmp.Compare(p.Feature[a], p.Feature[b]))
		})
		p.keys = p.Rows.Keys(job, place, full)
	})
	return p.keys
}

// SharedKeys are keys [n] that rows share whose features nothing tells apart but their order.
func (p *Prepared) SharedKeys(job *work.Job) []uint64 {
	place, _, full := p.places(job)
	return p.Rows.Keys(job, place, full)
}

// places are those of the features, which some may share, and the features in their order; full as in rows.Extremes.
func (p *Prepared) places(job *work.Job) (place, order []int32, full bool) {
	ends, full := p.Rows.Extremes(job, p.weights)
	order = rows.Numbers(len(p.Feature))
	place, tied := ranked(order, func(a, b int32) int { return slices.Compare(ends[2*b:2*b+2], ends[2*a:2*a+2]) })
	for k := 0; tied && k < refinements; k++ {
		of, before := p.Rows.Totals(job, p.counted(job, p.Rows.Keys(job, place, full))), place
		place, tied = ranked(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(before[a], before[b]), cmp.Compare(of[a], of[b]))
		})
	}
	return place, order, full
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
	out.Length = p.Rows.RootMeanSquare(job, out.weights)
	out.Rows, out.Feature = p.Rows.Packed(job)
	out.Rows = out.Rows.Scaled(1 / out.Length)
	job.CountAndCheck(2 * int64(out.Rows.NonZeros()))
	return out
}
