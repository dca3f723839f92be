package labeling

import (
	"math"
	"slices"
)

// greedy gives every row a label so that class y gets exactly counts[y] rows, the surest rows first.
//
//	Problem  a cheap labeling with given counts: a start for transport, not an optimum
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; counts[y], summing to n. A class
//	         with room is open; the regret of a row is what its second best class costs more than its best
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 1 steps 3-9: in order of how sure the rows are, the best
//	         class that still has room
//	Cost     n log n + n m
//
// The values in labels do not matter before.
func greedy(labels []int32, costs []float64, counts []int) {
	order, room, m := make([]candidate, len(labels)), slices.Clone(counts), len(counts)
	for i := range order {
		_, regret := bestOpen(costs[i*m:], room)
		order[i] = candidate{-regret, int32(i)}
	}
	slices.SortFunc(order, candidate.compare)
	for _, c := range order {
		y, _ := bestOpen(costs[int(c.row)*m:], room)
		labels[c.row] = y
		room[y]--
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
