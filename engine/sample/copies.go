package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// mostCopies bounds the copies that weights stand for, a row on average: hard labels are found copy by copy.
const mostCopies = 4

// findCopies keeps the weights that are numbers of copies: whole, unequal and not too many, those of 0 aside. Equal
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
	broken, rows, total, least, most := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for _, w := range weights {
		switch {
		case w != math.Trunc(w):
			broken++
		case w > 0:
			rows, total, least, most = rows+1, total+w, min(least, w), max(most, w)
		}
	}
	sums := []float64{broken, rows, total}
	s.Job.Reduce(sums)
	least, most = s.Job.Range(least, most)
	if sums[0] == 0 && least < most && sums[2] <= mostCopies*sums[1] {
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
