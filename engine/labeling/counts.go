package labeling

import (
	"math"
	"slices"
)

// Counts turns shares into whole counts that sum to n: every class gets the whole part of its due, and the rows left
// over go to the classes with the largest remainders, one each, the first of equals first. Shares are not negative and
// need not sum to 1, but one is positive; a class with share 0 gets no row. Remainders that differ by rounding alone
// count as equal.
func Counts(shares []float64, n int) []int {
	total := 0.0
	for _, share := range shares {
		total += share
	}
	counts, order := make([]int, len(shares)), make([]int, 0, len(shares))
	remainders, left := make([]float64, len(shares)), n
	for y, share := range shares {
		if share <= 0 {
			continue
		}
		due := share / total * float64(n)
		due = math.Round(due*1e9) / 1e9
		counts[y] = int(due)
		remainders[y] = math.Round((due - math.Floor(due)) * 1e8)
		left -= counts[y]
		order = append(order, y)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(remainders[b]) - int(remainders[a]) })
	for _, y := range order[:left] {
		counts[y]++
	}
	return counts
}

// countsOf counts the rows of each class; labels below 0 are none.
func countsOf(labels []int32, classes int) []int {
	counts := make([]int, classes)
	for _, y := range labels {
		if y >= 0 {
			counts[y]++
		}
	}
	return counts
}
