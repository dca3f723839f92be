package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/problem"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// agreement is how much unlabeled rows have changed: the share of them whose class is that of the supervised solution
// where the method began. NaN where there is nothing to compare, and where it began elsewhere.
func agreement(s *problem.Sample, result *Result) float64 {
	switch {
	case s.All.Unlabeled == 0 || s.Constant():
		return math.NaN()
	case !s.Transductive():
		return 1
	case result.first == nil:
		return math.NaN()
	}
	var sums [2]float64 // weight of the rows with the same class, of all
	for k, i := range s.Unlabeled {
		if result.first[k] == result.Transduction[i] {
			sums[0] += s.UnlabeledRows[k]
		}
	}
	sums[1] = vector.Sum(s.UnlabeledRows)
	s.Job.Reduce(sums[:])
	return sums[0] / sums[1]
}

// noteFirst keeps the classes of the unlabeled rows where a method begins, if that is the supervised solution.
func (t *task) noteFirst(score scorer) {
	if t.Start != nil {
		return
	}
	t.first = make([]int32, len(t.Unlabeled))
	row := make([]float64, t.classes)
	for k, i := range t.Unlabeled {
		score(row, i)
		t.first[k] = int32(vector.Largest(row))
	}
}
