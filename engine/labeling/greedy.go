package labeling

import (
	"math"
	"slices"
)

// Greedy gives every row a label so that class y gets exactly counts[y] rows, the surest rows first.
//
//	Problem  a cheap labeling with given counts: a start for Switch and Transport, not an optimum
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; counts[y], summing to n. A class
//	         with room is open; the regret of a row is what its second best open class costs more than its best
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 1 steps 3-9: best classes first, then, in order of how sure
//	         the rows are, the classes that still have room. Here in rounds: every waiting row proposes to its best open
//	         class; a class with room for all takes all, another takes the rows with the largest regret and is closed
//	Cost     n m + n for the first round; each of at most m - 1 further ones m for each row still waiting
//
// The values in labels do not matter before.
func Greedy(labels []int32, costs []float64, counts []int) {
	room := slices.Clone(counts)
	waiting := make([]int32, len(labels))
	for i := range waiting {
		waiting[i] = int32(i)
	}
	regret := make([]float64, len(labels))
	proposals := make([]int, len(counts))
	for len(waiting) > 0 {
		clear(proposals)
		for _, i := range waiting {
			labels[i], regret[i] = bestOpen(costs[int(i)*len(counts):], room)
			proposals[labels[i]]++
		}
		waiting = reject(waiting, labels, regret, proposals, room)
		for y := range room {
			room[y] = max(0, room[y]-proposals[y])
		}
	}
}

// bestOpen is the cheapest class with room and the regret of not getting it.
func bestOpen(costs []float64, room []int) (class int32, regret float64) {
	best, second := math.Inf(1), math.Inf(1)
	class = -1
	for y, open := range room {
		if c := costs[y]; open > 0 && (c < second || class < 0) {
			if c < best || class < 0 {
				class, best, second = int32(y), c, best
			} else {
				second = c
			}
		}
	}
	return class, second - best
}

// reject lists the rows that their class has no room for: those with the smallest regret.
func reject(waiting, labels []int32, regret []float64, proposals, room []int) (rejected []int32) {
	full := make([][]candidate, len(room))
	for _, i := range waiting {
		if y := labels[i]; proposals[y] > room[y] {
			full[y] = append(full[y], candidate{-regret[i], i})
		}
	}
	for y, list := range full {
		if len(list) > 0 {
			smallestFirst(list, room[y])
			for _, c := range list[room[y]:] {
				rejected = append(rejected, c.row)
			}
		}
	}
	slices.Sort(rejected)
	return rejected
}
