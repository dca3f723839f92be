package sample

import (
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/work"
)

// ShareOptions are the settings of ClassShares.
type ShareOptions struct {
	Bootstrap    shares.Bootstrap
	FitIntercept bool
	Threads      int
}

var shareTable = option.Table[ShareOptions]{
	{Name: "n_bootstraps", Kind: "integer", Minimum: 2, Maximum: 1e6,
		Field: func(o *ShareOptions) any { return &o.Bootstrap.Times }},
	{Name: "confidence_level", Kind: "number", Exclusive: true, Maximum: 1 - 1e-9,
		Field: func(o *ShareOptions) any { return &o.Bootstrap.Level }},
	{Name: "random_state", Kind: "integer", Field: func(o *ShareOptions) any { return &o.Bootstrap.Seed }},
	{Name: "fit_intercept", Kind: "boolean", Field: func(o *ShareOptions) any { return &o.FitIntercept }},
	{Name: "threads", Kind: "integer", Minimum: 1, Field: func(o *ShareOptions) any { return &o.Threads }},
}

// DecodeShareOptions is DecodeOptions for ClassShares.
func DecodeShareOptions(text []byte) (ShareOptions, error) {
	options := ShareOptions{Bootstrap: shares.Usual, FitIntercept: true, Threads: 1}
	err := shareTable.Decode(text, &options)
	return options, err
}

// Shares are the shares of the classes among the unlabeled rows, each with the ends of an interval.
type Shares struct{ Share, Lower, Upper []float64 } // [classes]; Lower and Upper are nil if not wanted

// ClassShares finds the class shares that a fit of the same rows with class prior "auto" uses, by the same steps.
func ClassShares(p Problem, o ShareOptions, interval bool) (found Shares, err error) {
	err = work.Guard(func() error {
		options := Options{UnlabeledWeight: option.AutoWeight, ClassPrior: ClassPrior{Rule: "auto"},
			FitIntercept: o.FitIntercept}
		s, err := New(p, options, work.NewJob(o.Threads, nil))
		if err != nil {
			return err
		}
		if s.OneClass() {
			return fault.Data("all labeled rows have the same class: its share needs no estimate")
		}
		if !s.Transductive() {
			return fault.Data("labels has %d unlabeled rows: class shares are estimated from two or more", s.All.Unlabeled)
		}
		prior, err := s.Prior(s.Classes())
		if err != nil {
			return err
		}
		if found.Share = prior.Shares; !interval {
			return nil
		}
		found.Lower, found.Upper = prior.Evidence.Interval(s.Job, found.Share, o.Bootstrap)
		return nil
	})
	return found, err
}
