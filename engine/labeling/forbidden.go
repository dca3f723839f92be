package labeling

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Finite replaces costs [n, m] of +Inf, of classes that a row cannot have, by numbers so large that the cheapest labels
// have as few of them as any.
//
//	Problem  a number M so that no exchange of labels that gives up a forbidden label costs anything
//	Source   the cheapest labels differ from others by exchanges around cycles of at most m classes, in which every other
//	         label changes its cost by the largest difference of finite costs at most: M = m + 1 times that, beyond the
//	         largest cost. A larger one would lose digits
func Finite(job *work.Job, costs []float64, classes int) {
	least, largest := math.Inf(1), math.Inf(-1)
	for _, c := range costs {
		if !math.IsInf(c, 1) {
			least, largest = min(least, c), max(largest, c)
		}
	}
	least, largest = job.Range(least, largest)
	span := largest - least
	if !(span > 0) {
		span = 1
	}
	forbidden := largest + float64(classes+1)*span
	for k, c := range costs {
		if math.IsInf(c, 1) {
			costs[k] = forbidden
		}
	}
}
