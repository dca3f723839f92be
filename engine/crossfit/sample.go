// Package crossfit scores labeled rows by models that have not seen their labels, and unlabeled rows by the same
// models: for class shares, and temperatures of probabilities. Start at Score.
package crossfit

import (
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// part copies the labeled rows and about maxRows of the unlabeled rows of all machines: labeled rows first.
func part(whole *sample.Sample, job *work.Job, maxRows int) *sample.Sample {
	copied := *whole
	s := &copied
	list, values := []int32(nil), []float64(nil) // class or -1, and weight
	for k, i := range s.Labeled {
		list, values = append(list, i), append(values, float64(s.Class[k]), s.LabeledRows[k])
	}
	for _, place := range drawn(s, job, maxRows) {
		list, values = append(list, s.Unlabeled[place]), append(values, -1, s.UnlabeledRows[place])
	}
	if job.Group == nil {
		s.Rows = s.Rows.Selected(job.Pool, list)
	} else {
		s.Rows, _ = s.Rows.Gathered(job, list)
		values, _ = job.Gather(values)
	}
	s.Labeled, s.Class, s.LabeledRows, s.Unlabeled, s.UnlabeledRows = nil, nil, nil, nil, nil
	s.Labels = make([]int32, len(values)/2)
	for i := range s.Labels {
		s.Add(i, int32(values[2*i]), values[2*i+1])
	}
	return s
}

// LabelShares are the class shares [K] of the labeled rows of all machines.
func LabelShares(s *sample.Sample, job *work.Job) []float64 {
	sums := append(totals(s), vector.Sum(s.LabeledRows))
	job.Reduce(sums)
	shares := sums[:s.Classes()]
	for y := range shares {
		shares[y] /= sums[s.Classes()]
	}
	return shares
}

// totals is the weight [K] of the labeled rows of each class.
func totals(s *sample.Sample) []float64 {
	totals := make([]float64, s.Classes())
	for k, y := range s.Class {
		totals[y] += s.LabeledRows[k]
	}
	return totals
}
