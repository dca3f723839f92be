package labeling

import "slices"

// Switch exchanges labels between pairs of one positive and one negative row where that lowers the cost.
//
//	Problem  given cost g_j of row j as positive minus its cost as negative, lower Σ_{j positive} g_j by exchanging
//	         labels in pairs, so that the number of positives stays
//	Symbols  g_j [u]; most: the largest number of pairs, 0 for all that help (S in the paper)
//	Source   Sindhwani & Keerthi 2006 section 3.1: best positive candidate with best negative candidate, then the
//	         second best of each, while a pair helps. Without a limit the result is the best labeling with this count.
//	Cost     sorting the candidates
//
// It changes positive and returns the number of pairs switched.
func Switch(positive []bool, g []float64, most int) int {
	var from, to []int32 // positives, costliest first; negatives, cheapest as positive first
	bound := crossing(positive, g)
	for j, isPositive := range positive {
		switch {
		case isPositive && g[j] > bound.negative:
			from = append(from, int32(j))
		case !isPositive && g[j] < bound.positive:
			to = append(to, int32(j))
		}
	}
	slices.SortFunc(from, func(a, b int32) int { return compare(g[b], g[a], a, b) })
	slices.SortFunc(to, func(a, b int32) int { return compare(g[a], g[b], a, b) })
	pairs := min(len(from), len(to))
	if most > 0 {
		pairs = min(pairs, most)
	}
	for k := range pairs {
		if !(g[from[k]] > g[to[k]]) {
			return k
		}
		positive[from[k]], positive[to[k]] = false, true
	}
	return pairs
}

// extremes are the largest g of a positive and the smallest g of a negative: only rows beyond the other's can be in a
// helpful pair.
type extremes struct{ positive, negative float64 }

func crossing(positive []bool, g []float64) extremes {
	var e extremes
	var seenPositive, seenNegative bool
	for j, isPositive := range positive {
		if isPositive && (!seenPositive || g[j] > e.positive) {
			e.positive, seenPositive = g[j], true
		}
		if !isPositive && (!seenNegative || g[j] < e.negative) {
			e.negative, seenNegative = g[j], true
		}
	}
	return e
}

func compare(a, b float64, i, j int32) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return int(i - j)
}
