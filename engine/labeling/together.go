package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/work"
)

// withCounts is transport for the rows of all machines, from labels that have these counts to others.
//
//	Problem  that of transport; every machine has some of the rows, perhaps none
//	Symbols  as in transport; S rows of all classes beyond their counts; k movers kept of every pair of classes
//	Source   ours: of every pair of classes (a, b) all machines get the k = S + 2 rows of a of each that move to b at the
//	         least cost, and each runs transport on these. Its potentials are proven for all rows where every arc of its
//	         class graph is at most as long as the k-th move of any machine: the rows that stayed away cost more
//	Stops    a proof; without one k grows fourfold, at last to all rows, or to most: then it gives nil
//	Cost     m² numbers and k m² rows of each machine at most
//
// On one machine that is transport itself, which needs no k.
func withCounts(job *work.Job, labels []int32, costs []float64, counts, have []int, keep, most int) *classGraph {
	if job.Group == nil {
		return transport(labels, costs, counts)
	}
	for ; keep <= most; keep *= 4 {
		if g := nearBorders(job, labels, costs, counts, have, keep); g != nil {
			return g
		}
	}
	return nil
}

// mostMovers of a pair of classes are tried from labels; then soft labels are faster.
const mostMovers = 128

// surplusOf is the number of rows that classes have beyond those wanted.
func surplusOf(have, wanted []int) (surplus int) {
	for y, count := range wanted {
		surplus += max(0, have[y]-count)
	}
	return surplus
}

// countsTogether are the counts of the classes over all machines.
func countsTogether(job *work.Job, labels []int32, classes int) []int {
	counts, sums := countsOf(labels, classes), make([]int64, classes)
	for y, count := range counts {
		sums[y] = int64(count)
	}
	job.ReduceCounts(sums)
	for y, sum := range sums {
		counts[y] = int(sum)
	}
	return counts
}

// nearBorders runs transport on the rows of all machines that are cheapest to move, and takes over its labels; without
// a proof for all rows it gives nil and leaves labels as they are. have are the counts before, counts those wanted.
func nearBorders(job *work.Job, labels []int32, costs []float64, counts, have []int, keep int) *classGraph {
	m := len(counts)
	borders := cheapestMovers(labels, costs, m, keep)
	farthest := leastLimits(job, borders)
	chosen, first, sent := gatherMovers(job, borders, labels, costs, m)
	n := len(sent) / (m + 1)
	own, ownCosts, rest := make([]int32, n), make([]float64, 0, n*m), slices.Clone(have)
	for i := range n {
		own[i] = int32(sent[i*(m+1)])
		rest[own[i]]--
		ownCosts = append(ownCosts, sent[i*(m+1)+1:(i+1)*(m+1)]...)
	}
	wanted := make([]int, m)
	for y := range wanted {
		if wanted[y] = counts[y] - rest[y]; wanted[y] < 0 || wanted[y] == 0 && rest[y] > 0 {
			return nil
		}
	}
	g := transport(own, ownCosts, wanted)
	for _, a := range g.live {
		for _, b := range g.live {
			if a != b && g.length[a*m+b] > farthest[a*m+b] {
				return nil
			}
		}
	}
	for k, i := range chosen {
		labels[i] = own[first+k]
	}
	return g
}

// cheapestMovers are the rows of this machine that move between two classes at the least cost, keep for each pair.
func cheapestMovers(labels []int32, costs []float64, classes, keep int) []border {
	borders := make([]border, classes*classes)
	for k := range borders {
		borders[k] = border{limit: math.Inf(1), keep: keep}
	}
	for i, a := range labels {
		row := costs[i*classes : (i+1)*classes]
		for b, there := range row {
			if to := &borders[int(a)*classes+b]; int(a) != b && there-row[a] < to.limit {
				to.add(candidate{there - row[a], int32(i)})
			}
		}
	}
	for k := range borders {
		b := &borders[k]
		if b.movers.order(); len(b.movers) > keep {
			b.movers, b.limit = b.movers[:keep], b.movers[keep-1].key
		}
	}
	return borders
}

// leastLimits are, for every pair of classes, the least limit of a machine.
func leastLimits(job *work.Job, borders []border) (least []float64) {
	limits := make([]float64, len(borders))
	for k, b := range borders {
		limits[k] = b.limit
	}
	least = slices.Clone(limits)
	for _, of := range job.Each(limits...) {
		for k, limit := range of {
			least[k] = min(least[k], limit)
		}
	}
	return least
}

// gatherMovers gives all machines label and costs, 1 + classes numbers, of every mover; chosen are the rows of this
// one, of which the first has this place.
func gatherMovers(
	job *work.Job, borders []border, labels []int32, costs []float64, classes int,
) (chosen []int32, first int, all []float64) {
	for _, b := range borders {
		for _, c := range b.movers {
			chosen = append(chosen, c.row)
		}
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	var own []float64
	for _, i := range chosen {
		own = append(append(own, float64(labels[i])), costs[int(i)*classes:(int(i)+1)*classes]...)
	}
	all, first = job.Gather(own)
	return chosen, first / (classes + 1), all
}
