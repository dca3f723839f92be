package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// agreement is how much unlabeled rows have changed: the share of them whose class found [n] is that of the supervised
// solution where the method began. NaN where there is nothing to compare, and where it began elsewhere.
func (s *sample) agreement(found []int32) float64 {
	switch {
	case len(s.unlabeled) == 0 || s.oneClass():
		return math.NaN()
	case !s.transductive():
		return 1
	case s.supervised == nil:
		return math.NaN()
	}
	same := 0
	for k, i := range s.unlabeled {
		if s.supervised[k] == found[i] {
			same++
		}
	}
	return float64(same) / float64(len(s.unlabeled))
}

// noteSupervised keeps the classes of the unlabeled rows where a method begins, if that is the supervised solution.
func (t *task) noteSupervised(r *risk.Risk) { t.noteClasses(r.Score) }

func (t *task) noteClasses(score scorer) {
	if t.start != nil {
		return
	}
	t.sample.supervised = make([]int32, len(t.unlabeled))
	row := make([]float64, t.classes)
	for k, i := range t.unlabeled {
		score(row, i)
		t.sample.supervised[k] = int32(vector.Largest(row))
	}
}
