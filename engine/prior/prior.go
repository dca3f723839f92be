// Package prior finds the shares of the classes among the unlabeled rows where nobody gives them.
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
//	Cost     five supervised fits of the labeled rows; one pass over at most sampleRows unlabeled rows
package prior

import (
	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Sample is what shares are found from.
type Sample struct {
	Rows            *csr.Matrix
	Number          []int32   // [Rows.Cols] the caller's number of each feature: folds depend on these
	Labeled         []int32   // row numbers
	Class           []int32   // [Labeled]
	LabeledWeight   []float64 // [Labeled] in rows: weight 2 is the same as the row twice
	Unlabeled       []int32   // row numbers
	UnlabeledWeight []float64 // [Unlabeled]
	Copies          bool      // the weights of the labeled rows are numbers of copies
	Classes         int       // K
	Intercept       bool      // whether the supervised models have one

	rank []int32 // [Rows.Cols] of each feature among these by Number
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
