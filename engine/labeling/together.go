package labeling

import (
	"maps"
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
//	         numbers g at a time, on histograms of all machines, until few rows are left, whose numbers all machines get:
//	         exact, however the rows are shared out. More: soft
//	         labels at a low temperature give potentials whose cheapest labels miss the counts by S rows; of every pair
//	         of classes (a, b) all machines get the k = S + 2 rows of a that move to b at the least cost, and each runs
//	         Transport on these. Its potentials are proven for all rows where every arc of its class graph is at most as
//	         long as the k-th of these moves: the rows that stayed away cost more
//	Stops    a proof; without one k grows fourfold, at last to all rows
//	Cost     two classes: two or three histograms and fewKeys numbers, at most six histograms; more: those of Soft, and
//	         k m² numbers of each machine and k m² rows at most

// cheapestTwoTogether is cheapestTwo for the rows of all machines. Where all g are equal, rows count one each.
func cheapestTwoTogether(job *work.Job, labels []int32, costs, weights []float64, share float64) (nu float64) {
	s := selection{job: job, keys: make([]float64, len(labels)), weights: weights}
	for i := range s.keys {
		s.keys[i] = costs[2*i+1] - costs[2*i]
	}
	f := s.find(share)
	lower, next := f.key, f.behind // a cut behind the key
	distance := func(weight float64) float64 { return math.Abs(weight - share*f.total) }
	switch first, last := math.IsInf(f.before, 0), math.IsInf(f.behind, 0); {
	case first && last:
		firstRows(job, labels, int(cutOf(share, f.rows)))
		if share < 0.5 {
			return f.key - 2
		}
		return f.key + 2
	case first || f.counted && f.to == cutOf(share, f.rows):
	case last || distance(f.below) <= distance(f.to):
		lower, next = f.before, f.key
	}
	for i, g := range s.keys {
		labels[i] = 0
		if g < next {
			labels[i] = 1
		}
	}
	return between(lower, next)
}

// cutOf is the number of so many rows that get label 1.
func cutOf(share, rows float64) float64 {
	return math.Min(rows-1, math.Max(1, math.Round(share*rows)))
}

// firstRows gives label 1 to so many rows, those of the first machines.
func firstRows(job *work.Job, labels []int32, count int) {
	first, _ := job.Before(len(labels))
	for i := range labels {
		labels[i] = 0
		if first+i < count {
			labels[i] = 1
		}
	}
}

// deferredEnds are the least and the largest weight of every machine, after the next reduction.
func deferredEnds(job *work.Job, weights []float64) [][]float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range weights {
		least, most = min(least, s), max(most, s)
	}
	return job.GatherDeferred(least, most)
}

// alike reports whether all weights are the same.
func alike(ends [][]float64) bool {
	least, most := work.Ends(ends)
	return least >= most
}

// selection finds a key by its place in the order of those of all machines.
type selection struct {
	job     *work.Job
	keys    []float64
	weights []float64
}

// found is the first key at which the weight of all keys up to it is at least a target.
type found struct {
	key, before, behind float64 // the key and its neighbours, infinite where there are none
	below, to           float64 // weight of the smaller keys, and with its own
	rows, total         float64 // number of all keys, and their weight
	counted             bool    // all weights are equal, and count as 1
}

const (
	digit   = 11   // bits
	fewKeys = 4096 // numbers that machines may tell each other at the end
)

// find looks for the target share of the weight; of equal weights, cutOf of the rows.
func (s selection) find(share float64) (f found) {
	ends, sums := deferredEnds(s.job, s.weights), []float64{float64(len(s.keys)), vector.Sum(s.weights)}
	s.job.ReduceDeferred(sums)
	prefix, known, target, left := uint64(0), 0, 0.0, 0.0 // the first bits of the key; keys that have them
	for known == 0 || known < 64 && 2*(1+left)*float64(len(ends)) > fewKeys {
		width := min(digit, 64-known)
		counts, weights := s.histograms(prefix, known, width)
		if known == 0 {
			f.rows, f.total, target, f.counted = sums[0], sums[1], share*sums[1], alike(ends)
			if f.counted {
				f.total, target = f.rows, cutOf(share, f.rows)
			}
		}
		if f.counted {
			weights = counts
		}
		bin := f.pass(weights, target)
		prefix, known, left = prefix<<width|uint64(bin), known+width, counts[bin]
	}
	s.finish(&f, prefix, known, int(left), target)
	return f
}

// pass goes on to the first of these keys in their order at which the target is reached.
func (f *found) pass(weights []float64, target float64) (place int) {
	last := 0
	for k, weight := range weights {
		if weight > 0 {
			last = k
		}
	}
	for f.to = f.below + weights[0]; f.to < target && place < last; f.to += weights[place] {
		f.below = f.to
		place++
	}
	return place
}

// histograms add up numbers and weights of the keys that begin with the prefix by the bits that follow.
func (s selection) histograms(prefix uint64, known, width int) (counts, weights []float64) {
	both, shift := make([]float64, 2<<width), 64-known-width
	counts, weights = both[:1<<width], both[1<<width:]
	for i, key := range s.keys {
		if bits := inOrder(key); known == 0 || bits>>(64-known) == prefix {
			counts[bits>>shift&(1<<width-1)]++
			weights[bits>>shift&(1<<width-1)] += s.weights[i]
		}
	}
	s.job.Reduce(both)
	return counts, weights
}

// finish lets all machines tell their keys that begin with the prefix, so many together, and those next to them.
func (s selection) finish(f *found, prefix uint64, known, left int, target float64) {
	own, listed := []float64{math.Inf(-1), math.Inf(1)}, known < 64
	for i, key := range s.keys {
		switch bits := inOrder(key) >> (64 - known); {
		case bits < prefix:
			own[0] = max(own[0], key)
		case bits > prefix:
			own[1] = min(own[1], key)
		case listed:
			own = append(own, key, s.weights[i])
		}
	}
	f.key = ofOrder(prefix)
	if listed {
		own = append(own, slices.Repeat([]float64{math.Inf(1)}, 2*(1+left)-len(own))...)
	}
	each := s.job.Each(own...)
	f.before, f.behind = math.Inf(-1), math.Inf(1)
	for _, of := range each {
		f.before, f.behind = max(f.before, of[0]), min(f.behind, of[1])
	}
	if listed {
		f.among(each, target)
	}
}

// among finds the key among those that the machines have told, after two numbers each with their weights.
func (f *found) among(each [][]float64, target float64) {
	weight := map[float64]float64{}
	for _, of := range each {
		for k := 2; k < len(of) && !math.IsInf(of[k], 1); k += 2 {
			if f.counted {
				of[k+1] = 1
			}
			weight[of[k]] += of[k+1]
		}
	}
	keys := slices.Sorted(maps.Keys(weight))
	weights := make([]float64, len(keys))
	for k, key := range keys {
		weights[k] = weight[key]
	}
	place := f.pass(weights, target)
	f.key = keys[place]
	if place > 0 {
		f.before = keys[place-1]
	}
	if place+1 < len(keys) {
		f.behind = keys[place+1]
	}
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
	ends, rows := deferredEnds(job, weights), []float64{float64(len(labels))}
	job.ReduceDeferred(rows)
	have, temperatures := countsTogether(job, labels, len(shares)), []float64{1, 0.1, 0.01, 0.001}
	counts := []int(nil)
	if alike(ends) {
		counts = Counts(shares, int(rows[0]))
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
	return withCounts(job, labels, costs, counts, have, surplusOf(have, counts)+2)
}

// fromLabels tries whether the labels that are there are near the cheapest ones, as after small changes of the costs.
func fromLabels(job *work.Job, labels []int32, costs []float64, counts, have []int) *classGraph {
	surplus, missing := surplusOf(have, counts), 0
	for y, count := range have {
		missing += counts[y] - count
	}
	if missing > 0 || surplus > mostMovers/2 {
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
