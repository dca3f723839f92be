package planted

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/weak"
)

// Weak are weak labels of the rows without a label [n] by prior costs [n, classes], +Inf where a row cannot have the
// class.
func Weak(classes int, costs []float64, labels []int32) *weak.Labels {
	start, class, p := []int64{0}, []int32(nil), []float64(nil)
	for i, label := range labels {
		row := costs[i*classes : (i+1)*classes]
		for y, cost := range row {
			if label < 0 && !math.IsInf(cost, 1) && (slices.Min(row) < slices.Max(row)) {
				class, p = append(class, int32(y)), append(p, math.Exp(-cost))
			}
		}
		start = append(start, int64(len(class)))
	}
	known, err := weak.New(classes, start, class, p, labels)
	if err != nil {
		panic(err)
	}
	return known
}
