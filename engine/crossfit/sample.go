// Package crossfit scores labeled rows by models that have not seen their labels, and unlabeled rows by the same ones.
// Class shares, and temperatures of probabilities, are found from such scores. Start at Score.
package crossfit

import (
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Sample is what models are fitted to: each machine of a group has rows of its own.
type Sample struct {
	Rows            *rows.Matrix
	Number          []int32   // [Rows.Cols] the caller's number of each feature: folds depend on these
	Labeled         []int32   // row numbers
	Class           []int32   // [Labeled]
	LabeledWeight   []float64 // [Labeled] in rows: weight 2 is the same as the row twice
	Unlabeled       []int32   // row numbers
	UnlabeledWeight []float64 // [Unlabeled]
	Copies          bool      // the weights of the labeled rows are numbers of copies
	Classes         int       // K
	Intercept       bool      // whether the supervised models have one

	rank []int32 // [Rows.Cols] of each feature among those that occur, by Number
}

// part copies the labeled rows and at most so many of the unlabeled rows, of all machines: labeled rows first.
func (s Sample) part(job *work.Job, most int) Sample {
	list, values := []int32(nil), []float64(nil) // class or -1, and weight
	for k, i := range s.Labeled {
		list, values = append(list, i), append(values, float64(s.Class[k]), s.LabeledWeight[k])
	}
	for _, place := range s.spaced(job, most) {
		list, values = append(list, s.Unlabeled[place]), append(values, -1, s.UnlabeledWeight[place])
	}
	if job.Group == nil {
		s.Rows = s.Rows.Selected(job.Pool, list)
	} else {
		s.Rows, _ = s.Rows.Gathered(job, list)
		values, _ = job.Gather(values)
	}
	s.Labeled, s.Class, s.LabeledWeight, s.Unlabeled, s.UnlabeledWeight = nil, nil, nil, nil, nil
	for i := range len(values) / 2 {
		class, weight := values[2*i], values[2*i+1]
		if class < 0 {
			s.Unlabeled, s.UnlabeledWeight = append(s.Unlabeled, int32(i)), append(s.UnlabeledWeight, weight)
			continue
		}
		s.Labeled, s.Class = append(s.Labeled, int32(i)), append(s.Class, int32(class))
		s.LabeledWeight = append(s.LabeledWeight, weight)
	}
	return s
}

// LabelShares are the shares [K] of the labeled rows, of all machines.
func (s *Sample) LabelShares(job *work.Job) []float64 {
	sums := append(s.totals(), vector.Sum(s.LabeledWeight))
	job.Reduce(sums)
	shares := sums[:s.Classes]
	for y := range shares {
		shares[y] /= sums[s.Classes]
	}
	return shares
}

// copies are numbers of copies [Labeled], nil where weights are none.
func (s *Sample) copies() []float64 {
	if s.Copies {
		return s.LabeledWeight
	}
	return nil
}

// totals is the weight [K] of the labeled rows of each class.
func (s *Sample) totals() []float64 {
	totals := make([]float64, s.Classes)
	for k, y := range s.Class {
		totals[y] += s.LabeledWeight[k]
	}
	return totals
}
