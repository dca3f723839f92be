package labeling

import (
	"cmp"
	"math"
)

// candidate is a row with the key that it is ranked by: smaller is better, equals go by row number.
type candidate struct {
	key float64
	row int32
}

func (c candidate) before(d candidate) bool { return c.key < d.key || c.key == d.key && c.row < d.row }

func (c candidate) compare(d candidate) int {
	if c.key != d.key {
		return cmp.Compare(c.key, d.key)
	}
	return cmp.Compare(c.row, d.row)
}

// largestKey is that of a list; -Inf of none.
func largestKey(list []candidate) float64 {
	largest := math.Inf(-1)
	for _, c := range list {
		largest = max(largest, c.key)
	}
	return largest
}

// smallestFirst puts the k smallest candidates in front, in no particular order, and the next one behind them: Hoare's
// quickselect, with the median of three as the pivot.
func smallestFirst(list []candidate, k int) {
	for lo, hi := 0, len(list)-1; lo < hi; {
		i, j := partition(list, lo, hi)
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}

// partition reorders list[lo:hi+1] so that all up to j are at most the pivot, all from i on at least.
func partition(list []candidate, lo, hi int) (i, j int) {
	pivot := median(list[lo], list[lo+(hi-lo)/2], list[hi])
	for i, j = lo, hi; i <= j; {
		for list[i].before(pivot) {
			i++
		}
		for pivot.before(list[j]) {
			j--
		}
		if i <= j {
			list[i], list[j] = list[j], list[i]
			i++
			j--
		}
	}
	return i, j
}

func median(a, b, c candidate) candidate {
	if b.before(a) {
		a, b = b, a
	}
	if c.before(b) {
		b = c
		if b.before(a) {
			b = a
		}
	}
	return b
}

// ranking is a binary heap of candidates, the best on top.
type ranking []candidate

func (r ranking) order() {
	for k := len(r)/2 - 1; k >= 0; k-- {
		r.sink(k)
	}
}

func (r *ranking) push(c candidate) {
	*r = append(*r, c)
	list := *r
	for k := len(list) - 1; k > 0; {
		above := (k - 1) / 2
		if !list[k].before(list[above]) {
			return
		}
		list[k], list[above] = list[above], list[k]
		k = above
	}
}

func (r *ranking) pop() {
	list := *r
	last := len(list) - 1
	list[0] = list[last]
	*r = list[:last]
	r.sink(0)
}

func (r ranking) sink(k int) {
	for {
		best := k
		for below := 2*k + 1; below <= 2*k+2 && below < len(r); below++ {
			if r[below].before(r[best]) {
				best = below
			}
		}
		if best == k {
			return
		}
		r[k], r[best] = r[best], r[k]
		k = best
	}
}
