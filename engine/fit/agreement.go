package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// origin is the supervised solution where a method began, or where the fit of a part of the rows did, see coarse.go.
type origin struct {
	rows    []int32   // unlabeled ones; nil: the method began elsewhere
	classes []int32   // [rows]
	weights []float64 // [rows]
}

// among is the same solution for rows that are numbered anew: row i is now rows[i], or that of another machine.
func (o origin) among(rows []int32) origin {
	most := len(o.rows)
	out := origin{make([]int32, 0, most), make([]int32, 0, most), make([]float64, 0, most)}
	for k, i := range o.rows {
		if rows[i] >= 0 {
			out.rows, out.classes = append(out.rows, rows[i]), append(out.classes, o.classes[k])
			out.weights = append(out.weights, o.weights[k])
		}
	}
	return out
}

// agreement is how much unlabeled rows have changed: the share of them whose class is that of the supervised solution
// where the method began. NaN where there is nothing to compare, and where it began elsewhere.
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
