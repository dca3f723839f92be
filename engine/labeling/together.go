package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Labels of the rows of several machines, under counts over all of them.
//
//	Problem  that of Cheapest; every machine has some of the rows, perhaps none
//	Symbols  as in Cheapest; S rows of all classes beyond their counts; k movers kept of every pair of classes
//	Source   ours, from parts that are not. Two classes: the threshold is found by radix selection, 11 bits of the
//	         numbers g at a time, on histograms of all machines: exact, however the rows are shared out. More: soft
//	         labels at a low temperature give potentials whose cheapest labels miss the counts by S rows; of every pair
//	         of classes (a, b) all machines get the k = S + 2 rows of a that move to b at the least cost, and each runs
//	         Transport on these. Its potentials are proven for all rows where every arc of its class graph is at most as
//	         long as the k-th of these moves: the rows that stayed away cost more
//	Stops    a proof; without one k grows fourfold, at last to all rows
//	Cost     two classes: six histograms; more: those of Soft, and k m² numbers of each machine and k m² rows at most

// cheapestTwoTogether is cheapestTwo for the rows of all machines. Where all g are equal, rows count one each.
func cheapestTwoTogether(job *work.Job, labels []int32, costs, weights []float64, share float64) (nu float64) {
	s := selection{job: job, keys: make([]float64, len(labels)), weights: weights}
	for i := range s.keys {
		s.keys[i] = costs[2*i+1] - costs[2*i]
	}
	n := float64(job.Count(len(labels)))
	total, count := n, math.Min(n-1, math.Max(1, math.Round(share*n)))
	target := count
	if equalTogether(job, weights) {
		s.weights = nil
	} else {
		sum := []float64{vector.Sum(weights)}
		job.Reduce(sum)
		total, target = sum[0], share*sum[0]
	}
	key, below, to := s.find(target)
	before, behind := s.neighbours(key)
	lower, next := key, behind // a cut behind the key
	distance := func(weight float64) float64 { return math.Abs(weight - share*total) }
	switch first, last := math.IsInf(before, 0), math.IsInf(behind, 0); {
	case first && last:
		firstRows(job, labels, int(count))
		if share < 0.5 {
			return key - 2
		}
		return key + 2
	case first || s.weights == nil && to == target:
	case last || distance(below) <= distance(to):
		lower, next = before, key
	}
	for i, g := range s.keys {
		labels[i] = 0
		if g < next {
			labels[i] = 1
		}
	}
	return between(lower, next)
}

// firstRows gives label 1 to so many rows, those of the first machines.
func firstRows(job *work.Job, labels []int32, count int) {
	_, first := job.Gather(make([]float64, len(labels)))
	for i := range labels {
		labels[i] = 0
		if first+i < count {
			labels[i] = 1
		}
	}
}

// equalTogether says whether all machines have the same weight in all rows.
func equalTogether(job *work.Job, weights []float64) bool {
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range weights {
		least, most = min(least, s), max(most, s)
	}
	least, most = job.Range(least, most)
	return least >= most
}

// selection finds keys by their place in the order of those of all machines.
type selection struct {
	job     *work.Job
	keys    []float64
	weights []float64 // nil: all 1
}

const digit = 11 // bits

// find gives the first key at which the weight of all keys up to it is at least target, with the weight of the smaller
// ones and with its own.
func (s selection) find(target float64) (key, below, to float64) {
	prefix, known := uint64(0), 0 // the first bits of the key
	for known < 64 {
		width := min(digit, 64-known)
		shift := 64 - known - width
		weights := s.histogram(prefix, known, shift, width)
		bin, last := 0, 0
		for k, weight := range weights {
			if weight > 0 {
				last = k
			}
		}
		for to = below + weights[0]; to < target && bin < last; to += weights[bin] {
			below = to
			bin++
		}
		prefix, known = prefix<<width|uint64(bin), known+width
	}
	return ofOrder(prefix), below, to
}

// histogram adds the weights of the keys that begin with the prefix by the bits that follow.
func (s selection) histogram(prefix uint64, known, shift, width int) []float64 {
	sums := make([]float64, 1<<width)
	for i, key := range s.keys {
		bits := inOrder(key)
		if known > 0 && bits>>(64-known) != prefix {
			continue
		}
		weight := 1.0
		if s.weights != nil {
			weight = s.weights[i]
		}
		sums[bits>>shift&(1<<width-1)] += weight
	}
	s.job.Reduce(sums)
	return sums
}

// neighbours are the largest key below and the smallest above, or infinite.
func (s selection) neighbours(key float64) (before, behind float64) {
	before, behind = math.Inf(-1), math.Inf(1)
	for _, k := range s.keys {
		if k < key {
			before = max(before, k)
		}
		if k > key {
			behind = min(behind, k)
		}
	}
	behind, before = s.job.Range(behind, before)
	return before, behind
}

// inOrder maps numbers to whole ones in the same order; 0 and -0 are one.
func inOrder(v float64) uint64 {
	bits := math.Float64bits(v + 0)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func ofOrder(bits uint64) float64 {
	if bits>>63 == 1 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

// transportTogether gives the rows of all machines the cheapest labels, and every machine the class graph of those near
// a border, whose potentials prove them. Labels that nearly keep the counts are a start.
func transportTogether(job *work.Job, labels []int32, costs, weights, shares []float64) *classGraph {
	have, temperatures := countsTogether(job, labels, len(shares)), []float64{1, 0.1, 0.01, 0.001}
	counts := []int(nil)
	if equalTogether(job, weights) {
		counts = Counts(shares, job.Count(len(labels)))
		if g := fromLabels(job, labels, costs, counts, have); g != nil {
			return g
		}
		temperatures = append(temperatures, 1e-4)
	}
	hardenedAt(job, labels, costs, weights, shares, temperatures)
	have = countsTogether(job, labels, len(shares))
	if counts == nil {
		counts = have
	}
	for keep := surplusOf(have, counts) + 2; ; keep *= 4 {
		if g := nearBorders(job, labels, costs, counts, have, keep); g != nil {
			return g
		}
	}
}

// fromLabels tries whether the labels that are there are near the cheapest ones, as after small changes of the costs.
func fromLabels(job *work.Job, labels []int32, costs []float64, counts, have []int) *classGraph {
	surplus, placed := surplusOf(have, counts), 0
	for _, count := range have {
		placed += count
	}
	if placed < job.Count(len(labels)) || surplus > mostMovers/2 {
		return nil
	}
	for keep := max(fewestMovers, surplus+2); keep <= mostMovers; keep *= 4 {
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
	counts := countsOf(labels, classes)
	for y, count := range eachCount(job, counts) {
		counts[y] = int(count)
	}
	return counts
}

func eachCount(job *work.Job, counts []int) []int64 {
	sums := make([]int64, len(counts))
	for y, count := range counts {
		sums[y] = int64(count)
	}
	job.ReduceCounts(sums)
	return sums
}

// nearBorders runs Transport on the rows of all machines that are cheapest to move, and takes over its labels; without
// a proof for all rows it gives nil and leaves labels alone. have are the counts before, counts those wanted.
func nearBorders(job *work.Job, labels []int32, costs []float64, counts, have []int, keep int) *classGraph {
	m := len(counts)
	borders := cheapestMovers(labels, costs, m, keep)
	farthest := keepCheapest(job, borders, keep)
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

// cheapestMovers are the rows of this machine that move between two classes at the least cost, so many a pair.
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
	return borders
}

// keepCheapest leaves of the movers those that are among so many cheapest ones of all machines, and gives the cost of
// the last of these for every pair of classes; infinite where there are no others.
func keepCheapest(job *work.Job, borders []border, keep int) (farthest []float64) {
	keys := slices.Repeat([]float64{math.Inf(1)}, len(borders)*keep)
	for k, b := range borders {
		slices.SortFunc(b.movers, candidate.compare)
		for place, c := range b.movers[:min(keep, len(b.movers))] {
			keys[k*keep+place] = c.key
		}
	}
	all := job.Each(keys...)
	farthest = make([]float64, len(borders))
	for k := range borders {
		var list []float64
		for _, of := range all {
			list = append(list, of[k*keep:(k+1)*keep]...)
		}
		slices.Sort(list)
		farthest[k] = list[keep-1]
		b := &borders[k]
		end := 0
		for end < min(keep, len(b.movers)) && b.movers[end].key <= farthest[k] {
			end++
		}
		b.movers = b.movers[:end]
	}
	return farthest
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
