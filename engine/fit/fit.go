// Package fit is one fit, from the caller's problem to its result. Start at fit: it calls the stages in their order.
package fit

import (
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Fit learns a classifier from labeled and unlabeled rows. It returns fault.ErrCancelled soon after progress.Cancel is
// set, or with work.Stop in it the classifier after one more step; progress may be nil. The machines of a group, or nil,
// share the rows: each calls it with its own in its part of Group.Run, and gets the same classifier.
func Fit(
	p sample.Problem, options method.Options, progress *work.Progress, group *work.Group,
) (result *Result, err error) {
	err = work.Guard(func() error {
		job := work.NewJob(options.Threads, progress)
		if group.Shares() {
			job.Group = group
		}
		if err := begin(p, options, job.Group); err != nil {
			return err
		}
		result, err = fit(p, options, job)
		return err
	})
	return result, err
}

// begin refuses options that do not go together, or that a group cannot follow.
func begin(p sample.Problem, options method.Options, group *work.Group) error {
	if err := options.Agree(); err != nil || group == nil {
		return err
	}
	alike := options
	alike.Threads = 0
	group.Begin(p.Checksum(alike))
	return options.Together()
}

// fit is the order of calls:
//
//	open       rows by kind, weights; class shares that are not given, by cross-fitted models    setting.go, shares
//	learn      the fit of one sample; method auto: its mean with two others, where shares were
//	           estimated                                                                         committee.go
//	  search     the fit alone:
//	    coarse     where there are many rows: search among an eighth of them, where run begins   coarse.go
//	    run        the method                                                                    run.go
//	    compare    method auto: another start, then another method; the lower objective stays    compare.go
//	weak       where rows are weakly labeled: open and learn again, with copies of these rows
//	           in the class that was found                                                       weak.go
//	calibrate  where asked for: temperatures, by five such fits without a fifth of the labels    calibrate.go
//
// Result.Trained has every model that was trained on the way.
func fit(p sample.Problem, options method.Options, job *work.Job) (*Result, error) {
	x, err := open(p, options, job)
	if err != nil {
		return nil, err
	}
	result, err := learn(x, start{model: p.Start})
	if err != nil {
		return nil, err
	}
	if result, err = weak(result); err != nil {
		return nil, err
	}
	if err := calibrate(result); err != nil {
		return nil, err
	}
	return result.conclude(p.Rows.Rows()), nil
}

// search is the fit of one sample, by the method of the options.
func search(x *setting, begin start) (*fitted, error) {
	begin, err := coarse(x, begin)
	if err != nil {
		return nil, err
	}
	result, err := run(x, x.sample.Job, begin, 0)
	if err != nil {
		return nil, err
	}
	return compare(result, begin), nil
}
