package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
)

const maxCopies = 4 // a row on average: hard labels are found copy by copy

// findCopies keeps the weights if they are numbers of copies: whole, unequal and not too large, apart from 0. Equal
// weights are the same as none, as the objective has no scale of weights.
func (s *Sample) findCopies(p Problem) {
	weights := p.Weights
	if p.Copies {
		s.Copies = weights
		return
	}
	if weights == nil && s.Job.Group != nil { // other machines may have some
		weights = slices.Repeat([]float64{1}, s.Rows.Rows())
	}
	broken, rows, total, smallest, largest := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for _, w := range weights {
		switch {
		case w != math.Trunc(w):
			broken++
		case w > 0:
			rows, total, smallest, largest = rows+1, total+w, min(smallest, w), max(largest, w)
		}
	}
	sums := []float64{broken, rows, total}
	s.Job.Reduce(sums)
	smallest, largest = s.Job.Range(smallest, largest)
	if sums[0] == 0 && smallest < largest && sums[2] <= maxCopies*sums[1] {
		s.Copies = weights
	}
}

// Units is the number of the unlabeled rows, or of the copies that their weights stand for.
func (s *Sample) Units() int {
	if s.Copies == nil {
		return len(s.Unlabeled)
	}
	return int(vector.Sum(s.UnlabeledRows))
}
