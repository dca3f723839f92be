package fit

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Columns learns several labels a row: a classifier of two classes for every column of labels, over the same rows.
//
//	Problem  that of Fit for each column of labels 0, 1 or -1 (unknown), or of descriptions; same rows, same weights
//	Symbols  labels [columns][n]; class_prior [columns] the shares of class 1 among the unlabeled rows of each column
//	Source   ours. The packed copy of the rows and its keys are made once. With the same shares a column has the bits of
//	         its separate fit. Shares that are not given are those of the column's labeled rows: estimates are slower
//	         and worse where few labels are positive (docs/notes/columns.md)
//	Stops    every column as Fit does
//	Cost     a fit a column without packing and estimate. Columns are divided among the threads
func Columns(p sample.Problem, labels [][]int32, options method.Options, progress *work.Progress) ([]*Result, error) {
	return work.Guard(func() ([]*Result, error) { return columns(p, labels, options, progress) })
}

func checkColumns(p sample.Problem, labels [][]int32, options method.Options) error {
	shares := options.ClassPrior.Shares
	switch {
	case shares != nil && len(shares) != len(labels):
		return fault.Argument("class_prior has %d entries, but there are %d columns of labels: give the share of 1 in each",
			len(shares), len(labels))
	case options.Hierarchy != nil:
		return fault.Argument("hierarchy is given, but every column has two classes")
	}
	if err := options.ClassWeight.Check(2, options.ClassNames); err != nil {
		return err
	}
	for k, share := range shares {
		if !(share > 0 && share < 1) {
			return fault.Argument("class_prior of column %d is %v: it must lie between 0 and 1", k, share)
		}
	}
	for k, column := range labels {
		for i, class := range column {
			if class < -3 || class > 1 {
				return fault.Data("labels of row %d in column %d is %d: it must be 0, 1 or -1 (unknown), or -2 or -3, which "+
					"describe 0 and 1", i, k, class)
			}
		}
	}
	// of a column: coefficients, labels and their probabilities, here and in the caller's arrays
	n, features := float64(p.Rows.Rows()), float64(p.Rows.Cols())
	atOnce := float64(min(options.Threads, len(labels)))
	return memory.Need(float64(len(labels))*(24*features+64*n)+atOnce*sample.BytesOf(p, options.OfSample()),
		fmt.Sprintf("a fit of %d columns of labels", len(labels)), "fit some of the columns at a time")
}

// columns fits every column on one thread, as many at a time as the options have threads.
func columns(p sample.Problem, labels [][]int32, options method.Options, progress *work.Progress) ([]*Result, error) {
	if err := cmp.Or(checkColumns(p, labels, options), options.Agree()); err != nil {
		return nil, err
	}
	job := work.NewJob(options.Threads, progress)
	p.Prepared = p.Prepare(job)
	results, errs, done := make([]*Result, len(labels)), make([]error, len(labels)), atomic.Int64{}
	job.Run(len(labels), func(k int) {
		problem, settings := p, options
		problem.Labels, settings.ClassPrior = labels[k], sample.ClassPrior{Rule: "labels"}
		if shares := options.ClassPrior.Shares; shares != nil {
			settings.ClassPrior = sample.ClassPrior{Shares: []float64{1 - shares[k], shares[k]}}
		}
		results[k], errs[k] = fit(problem, settings, work.NewJob(1, progress).Silent())
		if errs[k] == nil {
			job.Report(int(done.Add(1)), results[k].Model.Objective, 0, 0, 0)
		}
	})
	for k, err := range errs {
		if failure, ok := errors.AsType[*fault.Error](err); ok {
			return nil, &fault.Error{Kind: failure.Kind, Message: fmt.Sprintf("column %d: %v", k, err)}
		}
	}
	return results, nil
}
