package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// origin has the classes by the supervised solution where a method began, perhaps with a part of the rows (coarse.go).
type origin struct {
	rows    []int32   // unlabeled; nil: the method began elsewhere
	classes []int32   // [rows]
	weights []float64 // [rows]
}

// renumbered is the origin where row i has the number rows[i]; below 0 it is on another machine.
func (o origin) renumbered(rows []int32) origin {
	n := len(o.rows)
	out := origin{make([]int32, 0, n), make([]int32, 0, n), make([]float64, 0, n)}
	for k, i := range o.rows {
		if rows[i] >= 0 {
			out.rows, out.classes = append(out.rows, rows[i]), append(out.classes, o.classes[k])
			out.weights = append(out.weights, o.weights[k])
		}
	}
	return out
}

// agreement is the share of the unlabeled rows that keep the class of the supervised start; NaN where there is none.
func agreement(s *sample.Sample, began origin, classes []int32) float64 {
	switch {
	case s.All.Unlabeled == 0 || s.Constant():
		return math.NaN()
	case !s.Transductive():
		return 1
	case began.classes == nil:
		return math.NaN()
	}
	var sums [2]float64 // weight of the rows with the same class, of all
	for k, i := range began.rows {
		if began.classes[k] == classes[i] {
			sums[0] += began.weights[k]
		}
	}
	sums[1] = vector.Sum(began.weights)
	s.Job.Reduce(sums[:])
	return sums[0] / sums[1]
}
