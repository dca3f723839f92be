// Package shares finds the shares of the classes among the unlabeled rows where nobody gives them.
//
//	Problem  labeled rows have the class shares π, unlabeled rows unknown shares φ; within a class both are drawn alike
//	         (label shift). People often label the same number of rows of each class, so π may say nothing of φ
//	Symbols  K classes; l total weight of the labeled rows, in rows; s_i scores [K] of row i by a supervised model that
//	         has not seen its label; p_i = softmax(β s_i + b) calibrated probabilities; m_y their mean over labeled rows
//	Source   Saerens, Latinne & Decaestecker 2002, equation 2.9 (EM for φ); Alexandari, Kundaje & Shrikumar 2020
//	         (calibration with a bias for each class before it)
//	Method   five supervised fits, each without a fifth of the labels, score the labeled rows that they leave out and a
//	         fifth of the unlabeled rows each (evidence.go); β and b are fitted to the labeled ones (calibration.go);
//	         EM with a Dirichlet prior finds φ (shift.go)
//	Differences  p_iy is divided by m_y in place of π_y: a class with one label is never held out, its scores are low in
//	         all rows, and the shares must not follow from that; the Dirichlet prior, which keeps a class with few
//	         labels from losing all of its rows
//	Together     of several machines each makes the same five fits of the labeled rows of all, scores unlabeled rows of
//	         its own, and gets the scores of all
//	Cost     five supervised fits of the labeled rows; one pass over at most sampleRows unlabeled rows. Together: the
//	         labeled rows, a number a feature and the scores
package shares

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Sample is what shares are found from: of a group of machines each has rows of its own.
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

	gathered *rows.Matrix // the labeled rows of all machines; nil: they are among Rows
	rank     []int32      // [Rows.Cols] of each feature among these by Number
}

// gather gives the sample with the labeled rows of all machines.
func (s Sample) gather(job *work.Job) Sample {
	if job.Group == nil {
		return s
	}
	s.gathered, _ = s.Rows.Gathered(job, s.Labeled)
	own := slices.Clone(s.LabeledWeight)
	for _, y := range s.Class {
		own = append(own, float64(y))
	}
	s.Labeled, s.Class, s.LabeledWeight = s.gathered.All().Rows(), nil, nil
	for _, of := range job.GatherEach(own) {
		n := len(of) / 2
		s.LabeledWeight = append(s.LabeledWeight, of[:n]...)
		for _, y := range of[n:] {
			s.Class = append(s.Class, int32(y))
		}
	}
	return s
}

// labeled are the rows among which the labeled ones are.
func (s *Sample) labeled() *rows.Matrix {
	if s.gathered != nil {
		return s.gathered
	}
	return s.Rows
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
