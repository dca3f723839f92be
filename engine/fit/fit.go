package fit

import (
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Fit learns a classifier from labeled and unlabeled rows. It returns fault.ErrCancelled soon after
// progress.Cancel is set, or with work.Stop in it the classifier after one more step; progress may be nil.
func Fit(p sample.Problem, options method.Options, progress *work.Progress) (*Result, error) {
	return FitTogether(p, options, progress, nil)
}

// FitTogether is Fit where the machines of a group share the rows: each calls it with rows of its own in its part of
// Group.Run, and gets the same classifier. Transduction and Distributions are those of its rows.
func FitTogether(
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
		result, err = fitProblem(p, options, job)
		return err
	})
	return result, err
}

func fitProblem(p sample.Problem, options method.Options, job *work.Job) (*Result, error) {
	s, err := sample.New(p, options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	if s.PriorCosts != nil && s.Transductive() {
		return fitKnown(s, p, options)
	}
	return fitSample(s, p, options, 0)
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

// fitSample fits the sample that was made of a problem, after some steps of another fit.
func fitSample(s *sample.Sample, p sample.Problem, options method.Options, before int) (*Result, error) {
	x, err := newSetting(s, options, p.Start)
	if err != nil {
		return nil, err
	}
	x.before = before
	fit := best
	if p.Start != nil {
		fit = func(x *setting) (*fitted, error) { return run(x, s.Job, from{model: p.Start}, 0) }
	}
	found, err := fit(x)
	if err != nil {
		return nil, err
	}
	found.Agreement = agreement(s, found.origin, found.Transduction)
	err = calibrate(x, found.Result)
	for k, w := range found.Model.Warnings {
		found.Model.Warnings[k] = w.Named(options.ClassNames)
	}
	return found.Result, err
}
