package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// withShares is the data with the class shares that its options ask for. Where descriptions are the only labels these
// are the shares that a mixture of all rows predicts.
func (d *Data) withShares() (*Data, error) {
	out := *d
	prior, err := shares.Find(d.sample, func() (found *shares.Evidence, err error) {
		found, out.near, err = d.evidence("class_prior")
		return found, err
	})
	if err != nil {
		return nil, err
	}
	out.prior, out.warnings = prior, slices.Concat(prior.Warnings, d.sample.ScaleWarnings())
	if empty := d.sample.All.Empty; empty > 0 {
		out.warnings = append(out.warnings, warning.EmptyDescriptions.Of(float64(empty)))
	}
	guess := false
	if e := prior.Evidence; e != nil && (prior.ChosenLabels || len(e.Class) == 0) {
		guess = d.labels < tellingLabels && e.FromLabels(e.Predicted) > unevenShares
	}
	if d.onlyDescribed() {
		if out.mixture, err = out.Train(Member{method: method.Mixture}); err != nil {
			return nil, err
		}
		out.prior = prior.With(out.predicted(d.sample.Packed(out.mixture.Model)))
		guess = shares.Distance(out.prior.Shares, prior.Shares) > sameShares
	}
	if found := out.prior.Shares; guess {
		out.warnings = append(out.warnings, warning.GuessedShares.Of(slices.Min(found), slices.Max(found)))
	}
	if part := d.carries; part < 1 && d.sample.Transductive() && !d.sample.Constant() {
		supervised, err := out.Train(Member{method: method.Supervised})
		if err != nil {
			return nil, err
		}
		predicted := out.predicted(d.sample.Packed(supervised.Model))
		out.prior = out.prior.With(blend(part, out.prior.Shares, 1-part, predicted))
	}
	return &out, nil
}

// Of a guess: few labels, chosen class by class for all they tell, whose classifier predicts other shares than theirs.
const (
	tellingLabels = 10.0 // labels a class from which on an estimate is none
	unevenShares  = 0.2  // total variation distance
)

// carried is the part of the class shares that the unlabeled rows carry: all from this many on, as many as labels, and
// where a class has no label. A share is known from them as well as from as many labels, so that far fewer have the
// shares that the supervised classifier predicts.
func carried(s *sample.Sample, all float64) float64 {
	if slices.Min(s.All.ClassRows) == 0 {
		return 1
	}
	return min(1, float64(s.All.UnlabeledUnits)/all)
}

// onlyDescribed reports whether the shares are to be found from descriptions alone.
func (d *Data) onlyDescribed() bool {
	return d.asked.ClassPrior.Rule == "auto" && d.sample.Transductive() && !d.sample.Constant() && d.sample.OnlyDescribed()
}

var manyUnlabeled = 1 << 15 // replaced in tests

// evidence is what class shares are estimated from: scores by a supervised classifier and a mixture of all labels but a
// fifth, five times, and the classes that the supervised classifier near of all labels predicts. The options of the fit
// have no part in it. Machines fit the same rows of all.
func (d *Data) evidence(name string) (found *shares.Evidence, near *model.Linear, err error) {
	s := d.sample
	limit := sample.CrossFitted
	if s.All.Unlabeled >= manyUnlabeled {
		limit = manyUnlabeled / 2 // scores also show whether a mixture is a good start
	}
	nonZeros := s.Job.Count(s.Rows.Subset(s.Unlabeled).NonZeros())
	limit = min(limit, s.All.Unlabeled*sample.CrossFittedSize/max(1, nonZeros))
	part := *d
	part.name, part.prior = name, &shares.Prior{Shares: shares.OfLabels(s)}
	options := method.Defaults()
	options.Alpha, options.UnlabeledWeight, options.ClassWeight.Rule, options.Tol = maxAlpha, 1, "none", evidenceTol
	options.FitIntercept, options.ClassNames = d.options.FitIntercept, d.options.ClassNames
	chosen := s.Keep(nil, s.Drawn(limit))
	chosen.Weak, chosen.Gathered = nil, true
	few, err := part.of(chosen, options, s.Job.Silent())
	if err != nil {
		return nil, nil, err
	}
	supervised, err := few.trainOn(few.sample.Keep(nil, nil), method.Supervised)
	if err != nil {
		return nil, nil, err
	}
	few.near = supervised.Model
	split, views := crossfit.NewSplit(few.sample, limit), 1
	if method.MixesSoon(few.sample) {
		views = 2
	}
	scores, err := crossfit.HeldOut(few.sample, &split, views, func(f *crossfit.Fold) ([][]float64, error) {
		return few.foldScores(f, views)
	})
	if err != nil {
		return nil, nil, err
	}
	found = &shares.Evidence{Scores: scores, Predicted: few.predicted(supervised.Model)}
	return found, few.sample.Unpacked(few.near), nil
}

const evidenceTol = 1e-6 // scores of looser solves depend on rounding

// foldScores are a fold's scores by the supervised classifier of the labels not held out, and by a mixture of all rows.
func (d *Data) foldScores(f *crossfit.Fold, views int) (scores [][]float64, err error) {
	all := d.sample.Every(sample.Selection{})
	for k, i := range d.sample.Labeled {
		if f.Held(k) {
			all.Class[i] = -1
		}
	}
	seen := []sample.Selection{d.sample.Keep(f.Held, nil), all}
	for v, name := range []method.Method{method.Supervised, method.Mixture}[:views] {
		found, err := d.trainOn(seen[v], name)
		if err != nil {
			return nil, err
		}
		of, err := d.scoresOf(found.Model, d.sample.Rows.Selected(d.sample.Job.Pool, f.Rows))
		if err != nil {
			return nil, err
		}
		scores = append(scores, of)
	}
	return scores, nil
}

// trainOn is a model of a part of the data.
func (d *Data) trainOn(rows sample.Selection, name method.Method) (*fitted, error) {
	part, err := d.of(rows, d.options, d.sample.Job)
	if err != nil {
		return nil, err
	}
	return part.Train(Member{method: name})
}

// Shares are the class shares among the unlabeled rows, with the ends of intervals and the warnings of a fit with them.
type Shares struct {
	Share, Lower, Upper []float64 // [classes]; Lower and Upper are nil if not requested
	Warnings            warning.List
}

// EstimateShares finds the class shares that a fit of the same rows with class prior "auto" uses.
func EstimateShares(p sample.Problem, o shares.Options, interval bool) (Shares, error) {
	return work.Guard(func() (estimate Shares, err error) {
		options := method.Defaults()
		options.FitIntercept = o.FitIntercept
		d, err := open(p, options, work.NewJob(o.Threads, nil))
		switch {
		case err != nil:
			return estimate, err
		case d.sample.OneClass():
			return estimate, fault.Data("all labeled rows have the same class: its share needs no estimate")
		case !d.sample.Transductive():
			return estimate, fault.Data("labels has %d unlabeled rows: class shares are estimated from two or more",
				d.sample.All.Unlabeled)
		}
		if d, err = d.withShares(); err != nil {
			return estimate, err
		}
		estimate.Share, estimate.Warnings = d.prior.Shares, d.warnings
		if interval {
			estimate.Lower, estimate.Upper = d.prior.Interval(d.sample.Job, o)
		}
		return estimate, nil
	})
}
