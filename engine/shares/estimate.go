package shares

import (
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Options are the settings of Estimate.
type Options struct {
	Bootstrap    Bootstrap
	FitIntercept bool
	Threads      int
}

func DecodeOptions(text []byte) (Options, error) {
	o := Options{Bootstrap: Bootstrap{Times: 50, Level: 0.9}, FitIntercept: true, Threads: 1}
	err := option.Table{
		{Name: "n_bootstraps", Value: &o.Bootstrap.Times, Minimum: 2, Maximum: 1e6},
		{Name: "confidence_level", Value: &o.Bootstrap.Level, Exclusive: true, Maximum: 1 - 1e-9},
		{Name: "random_state", Value: &o.Bootstrap.Seed},
		{Name: "fit_intercept", Value: &o.FitIntercept},
		{Name: "threads", Value: &o.Threads, Minimum: 1},
	}.Decode(text)
	return o, err
}

// Shares are the class shares among the unlabeled rows, each with the ends of an interval.
type Shares struct{ Share, Lower, Upper []float64 } // [classes]; Lower and Upper are nil if not requested

// Estimate finds the class shares that a fit of the same rows with class prior "auto" uses.
func Estimate(p sample.Problem, o Options, interval bool) (Shares, error) {
	return work.Guard(func() (estimate Shares, err error) {
		options := sample.Options{UnlabeledWeight: option.AutoWeight, ClassPrior: sample.ClassPrior{Rule: "auto"},
			FitIntercept: o.FitIntercept}
		s, err := sample.New(p, options, work.NewJob(o.Threads, nil))
		switch {
		case err != nil:
			return estimate, err
		case s.OneClass():
			return estimate, fault.Data("all labeled rows have the same class: its share needs no estimate")
		case !s.Transductive():
			return estimate, fault.Data("labels has %d unlabeled rows: class shares are estimated from two or more",
				s.All.Unlabeled)
		}
		prior, err := Find(s)
		if err != nil {
			return estimate, err
		}
		if estimate.Share = prior.Shares; interval {
			estimate.Lower, estimate.Upper = prior.Evidence.Interval(s.Job, estimate.Share, o.Bootstrap)
		}
		return estimate, nil
	})
}
