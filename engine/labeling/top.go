package labeling

import (
	"math"
	"slices"
)

// Top marks the rows with the largest scores as positive in dst, so that their weight is as near to share of the
// whole weight as a cut between different scores allows, and returns a threshold in the middle of that cut. Rows
// with equal scores go together: a row of weight 2 is the same as two copies of it. At least one row goes to
// either side, so cuts above or below all rows are not looked at.
//
// Where all scores are equal there is no cut: the threshold is NaN, and dst has the first rows as positive ones, as
// many as the share says, for a learner that must begin with some labels. Otherwise dst[j] is scores[j] > threshold.
// A single row is not positive, and the threshold is +Inf. scratch has room for the scores.
func Top(dst []bool, scores, weights []float64, share float64, scratch []float64) (threshold float64) {
	clear(dst)
	if len(scores) < 2 {
		return math.Inf(1)
	}
	if threshold, ok := quickCut(scores, weights, share, scratch); ok {
		for j, f := range scores {
			dst[j] = f > threshold
		}
		return threshold
	}
	order := descending(scores)
	distinct := scores[order[0]] != scores[order[len(order)-1]]
	total := 0.0
	for _, w := range weights {
		total += w
	}
	best, count, got := math.Inf(1), 1, 0.0
	for k, j := range order[:len(order)-1] {
		got += weights[j]
		if distinct && scores[j] == scores[order[k+1]] {
			continue
		}
		if distance := math.Abs(got - share*total); distance < best {
			best, count = distance, k+1
		}
	}
	for _, j := range order[:count] {
		dst[j] = true
	}
	if !distinct {
		return math.NaN()
	}
	return between(scores[order[count]], scores[order[count-1]])
}

// between is the middle of two different scores, or the lower one where no number lies between them.
func between(lower, upper float64) float64 {
	if middle := lower + (upper-lower)/2; middle < upper {
		return middle
	}
	return lower
}

// descending lists the rows by falling score, equal scores by row number.
func descending(scores []float64) []int32 {
	order := make([]int32, len(scores))
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortFunc(order, func(a, b int32) int { return compare(scores[b], scores[a], a, b) })
	return order
}

// quickCut is the threshold where all weights are equal and the cut at the share falls between different scores:
// numbers part faster than rows sort.
func quickCut(scores, weights []float64, share float64, scratch []float64) (threshold float64, ok bool) {
	for _, w := range weights {
		if w != weights[0] {
			return 0, false
		}
	}
	parted := scratch[:copy(scratch, scores)]
	n := len(parted)
	count := max(1, min(n-1, int(math.Round(share*float64(n)))))
	partition(parted, n-count)
	lower, upper := slices.Max(parted[:n-count]), parted[n-count]
	return between(lower, upper), lower < upper
}

// partition reorders values so that those before place k are at most values[k], those behind at least: Hoare's
// quickselect, with the median of three as the pivot.
func partition(values []float64, k int) {
	for lo, hi := 0, len(values)-1; lo < hi; {
		pivot := medianOfThree(values[lo], values[lo+(hi-lo)/2], values[hi])
		i, j := lo, hi
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
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

func medianOfThree(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
