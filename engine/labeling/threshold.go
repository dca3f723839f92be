package labeling

import (
	"cmp"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// cheapestTwo is Cheapest for two classes: rows with g < ν get label 1.
//
//	Problem  the cut between two different numbers g of all machines at which the weight, or with equal weights the
//	         number, of the rows below is nearest to the share r; of cuts as near the one with fewer rows below. Rows
//	         with equal g go together: a row of weight 2 is the same as two copies of it. At least one row gets either
//	         label
//	Symbols  g_i cost of class 1 beyond that of class 0, the key of row i; ν the middle between the keys on both sides
//	         of the cut
//	Source   ours: radix selection, 11 bits of the keys at a time, on histograms of all machines, until few keys are
//	         left, which all machines get: exact, however the rows are shared out
//	Cost     n for each histogram, of which there are two to four, at most six, and fewKeys numbers. On one machine a
//	         selection by quickselect takes 0.7 to 1.0 of the time with equal weights, and ten times as long without
//
// Where all g are equal the first rows get label 1, as many as the share demands, for a learner that must begin with
// some labels, and ν puts all rows at margin 1 of the larger class. A single row gets label 0.
func cheapestTwo(job *work.Job, labels []int32, costs, weights []float64, share float64) (nu float64) {
	s := selection{job: job, left: make([]weighed, len(labels)), below: inOrder(math.Inf(-1)), above: inOrder(math.Inf(1)),
		room: job.Borrow(2 << digit)}
	defer job.Return(s.room)
	job.EachRow(len(labels), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.left[i] = weighed{inOrder(costs[2*i+1] - costs[2*i]), weights[i]}
		}
	})
	f := s.find(weights, share)
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
	job.EachRow(len(labels), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			label := int32(0)
			if costs[2*i+1]-costs[2*i] < next {
				label = 1
			}
			labels[i] = label
		}
	})
	return between(lower, next)
}

// cutOf is the number of rows that get label 1, of a number of rows.
func cutOf(share, rows float64) float64 {
	return math.Min(rows-1, math.Max(1, math.Round(share*rows)))
}

// firstRows gives label 1 to a number of rows, those of the first machines.
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

// weighed is a key with the weight of its rows; see inOrder.
type weighed struct {
	bits   uint64
	weight float64
}

// selection finds a key by its place in the order of those of all machines.
type selection struct {
	job          *work.Job
	left         []weighed // keys of this machine that may be the one
	below, above uint64    // the keys next to these on this machine
	prefix       uint64    // first bits that those left have in common
	known        int       // number of these
	room         []float64 // for histograms
}

// found is the first key at which the weight of all keys up to it is at least a target.
type found struct {
	key, before, behind float64 // the key and its neighbours, infinite where there are none
	below, to           float64 // weight of the smaller keys, and with its own
	rows, total         float64 // number of all keys, and their weight
	counted             bool    // all weights are equal, and count as 1
}

const (
	digit   = 11  // bits of a histogram
	fewKeys = 256 // numbers that machines give each other at the end
)

// find looks for the target share of the weight; of equal weights, cutOf of the rows.
func (s *selection) find(weights []float64, share float64) (f found) {
	ends, sums := deferredEnds(s.job, weights), []float64{float64(len(weights)), vector.Sum(weights)}
	s.job.ReduceDeferred(sums)
	counts, sizes := s.histograms()
	f.rows, f.total, f.counted = sums[0], sums[1], alike(ends)
	target := share * f.total
	if f.counted {
		f.total, target, sizes = f.rows, math.Max(1, cutOf(share, f.rows)), counts
		for k := range s.left {
			s.left[k].weight = 1
		}
	}
	for {
		bin := f.pass(sizes, target)
		s.keep(bin)
		most := 2 * (1 + int(counts[bin]))
		switch {
		case s.known == 64:
			f.key = ofOrder(s.prefix)
			f.behind, f.before = s.job.Range(ofOrder(s.above), ofOrder(s.below))
			return f
		case most*len(ends) <= fewKeys:
			s.finish(&f, most, target)
			return f
		}
		counts, sizes = s.histograms()
	}
}

// finish finds the key among those that are left on all machines, for which each machine gives most numbers.
func (s *selection) finish(f *found, most int, target float64) {
	own := slices.Repeat([]float64{math.Inf(1)}, most)
	own[0], own[1] = ofOrder(s.below), ofOrder(s.above)
	for k, key := range s.left {
		own[2+2*k], own[3+2*k] = ofOrder(key.bits), key.weight
	}
	var keys [][]float64 // key and weight
	f.before, f.behind = math.Inf(-1), math.Inf(1)
	for _, of := range s.job.Each(own...) {
		f.before, f.behind = max(f.before, of[0]), min(f.behind, of[1])
		for pair := range slices.Chunk(of[2:], 2) {
			if !math.IsInf(pair[0], 1) {
				keys = append(keys, pair)
			}
		}
	}
	slices.SortStableFunc(keys, func(a, b []float64) int { return cmp.Compare(a[0], b[0]) })
	f.key, f.to = math.Inf(-1), f.below
	for _, pair := range keys {
		if pair[0] > f.key {
			if f.to >= target && !math.IsInf(f.key, -1) {
				f.behind = pair[0]
				return
			}
			f.before, f.below = max(f.before, f.key), f.to
		}
		f.key, f.to = pair[0], f.to+pair[1]
	}
}

// pass goes on to the first of these keys in their order at which the target is reached, or to the last one.
func (f *found) pass(weights []float64, target float64) (place int) {
	total := f.below
	for k, weight := range weights {
		if weight > 0 {
			place, f.below, total = k, total, total+weight
			if total >= target {
				break
			}
		}
	}
	f.to = total
	return place
}

// histograms add up numbers and weights of the keys that are left by the bits that follow.
func (s *selection) histograms() (counts, weights []float64) {
	width := min(digit, 64-s.known)
	both := s.room[:2<<width]
	clear(both)
	counts, weights = both[:1<<width], both[1<<width:]
	for _, k := range s.left {
		bin := k.bits << s.known >> (64 - width)
		counts[bin]++
		weights[bin] += k.weight
	}
	s.job.Reduce(both)
	return counts, weights
}

// keep leaves the keys of a bin of the histograms.
func (s *selection) keep(bin int) {
	width, kept := min(digit, 64-s.known), s.left[:0]
	for _, k := range s.left {
		switch place := int(k.bits << s.known >> (64 - width)); {
		case place < bin:
			s.below = max(s.below, k.bits)
		case place > bin:
			s.above = min(s.above, k.bits)
		default:
			kept = append(kept, k)
		}
	}
	s.left, s.known, s.prefix = kept, s.known+width, s.prefix<<width|uint64(bin)
}

// inOrder maps numbers to whole ones in the same order; 0 and -0 are one.
func inOrder(v float64) uint64 {
	bits := math.Float64bits(v + 0)
	return bits ^ (uint64(int64(bits)>>63) | 1<<63) // without a branch: signs cannot be foreseen
}

func ofOrder(bits uint64) float64 { return math.Float64frombits(bits ^ (bits>>63 - 1 | 1<<63)) }
