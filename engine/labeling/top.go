package labeling

import (
	"math"
	"slices"
)

// Top marks the rows with the largest scores as positive until their weight is as near to share of the whole weight as
// whole rows allow, and returns a threshold between the two groups. Equal scores: the earlier row first. At least one row
// of positive weight goes to either side.
func Top(scores, weights []float64, share float64) (positive []bool, threshold float64) {
	order := descending(scores)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	positive = make([]bool, len(scores))
	got, count := 0.0, 0
	for k, j := range order[:len(order)-1] {
		if k > 0 && got+weights[j]/2 > share*total {
			break
		}
		positive[j] = true
		got += weights[j]
		count = k + 1
	}
	if len(scores) < 2 {
		return positive, math.Inf(-1)
	}
	upper, lower := scores[order[count-1]], scores[order[count]]
	return positive, lower + (upper-lower)/2
}

func descending(scores []float64) []int32 {
	order := make([]int32, len(scores))
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return int(a - b)
	})
	return order
}
