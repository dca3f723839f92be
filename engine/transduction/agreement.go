package transduction

import (
	"math"

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
func (s *sample) noteSupervised(class func(row int32) int32) {
	if s.start != nil {
		return
	}
	s.supervised = make([]int32, len(s.unlabeled))
	for k, i := range s.unlabeled {
		s.supervised[k] = class(i)
	}
}

// sideOf is the class of a row by the scores [n] of two classes.
func sideOf(scores []float64) func(row int32) int32 {
	return func(row int32) int32 {
		if scores[row] > 0 {
			return 1
		}
		return 0
	}
}

// likeliestOf is the class of a row by its scores of many classes.
func likeliestOf(score func(row int32) []float64) func(row int32) int32 {
	return func(row int32) int32 { return int32(vector.Largest(score(row))) }
}
