// Package fit is one fit, from the caller's problem to its result. Start at fit: it calls the stages in their order.
package fit

import (
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Fit learns a classifier from labeled and unlabeled rows. It returns fault.ErrCancelled soon after progress.Cancel is
// set, or with work.Stop in it the classifier after one more step; progress may be nil. Machines of a group, or nil,
// share the rows: each calls it with its own in its part of Group.Run, and gets the same classifier.
func Fit(p sample.Problem, options method.Options, progress *work.Progress, group *work.Group) (*Result, error) {
	return work.Guard(func() (*Result, error) {
		if err := options.Agree(); err != nil {
			return nil, err
		}
		job := work.NewJob(options.Threads, progress)
		if group.Shares() {
			alike := options
			job.Group, alike.Threads = group, 0
			group.Begin(p.Checksum(alike))
			if err := options.Together(); err != nil {
				return nil, err
			}
		}
		return fit(p, options, job)
	})
}

// fit is the order of calls:
//
//	open       rows by kind, weights                                                             data.go
//	  shares     class shares that are not given: a supervised classifier and a mixture, held out  shares.go
//	learn    the fit of these data; method auto: its mean with two others, where shares were
//	           estimated                                                                         committee.go
//	  coarse     where there are many rows: search among parts of them, where search begins      coarse.go
//	  search     one model of the method
//	    compare    method auto: another start, then, outside a mean, another method; the lower
//	               objective stays                                                               compare.go
//	learn      where rows are weakly labeled, again: with copies of these in the class found     weak.go
//	thresholds move, so that new rows have the shares, too                                       thresholds.go
//	calibrate  where asked for: temperatures, by five such fits without a fifth of the labels    calibrate.go
//
// Every model is made by Data.Train, from a Member, which says how, and Data, which it may see. Result.Trained has all.
func fit(p sample.Problem, options method.Options, job *work.Job) (*Result, error) {
	d, err := open(p, options, job)
	if err != nil {
		return nil, err
	}
	result, err := d.learnTwice()
	if err != nil {
		return nil, err
	}
	if err := result.moveForNewRows(); err != nil {
		return nil, err
	}
	if options.Calibrate {
		calibrate(result)
	}
	return result.conclude(d.sample), nil
}

// learn is the fit of data, from the caller's start or a part of the rows.
func learn(d *Data) (_ *fitted, err error) {
	if d.averages() {
		return average(d)
	}
	var part *fitted
	if d.start == nil {
		if part, err = coarse(d, d.parts(), Member{tol: d.loose(partLooseness)}); err != nil {
			return nil, err
		}
	}
	return search(d, Member{begin: d.startAt(part)})
}

// search is a model of the method of the options.
func search(d *Data, m Member) (*fitted, error) {
	result, err := d.Train(m)
	if err == nil && !d.aside() {
		compare(result, m)
	}
	return result, err
}
