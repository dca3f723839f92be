package fit

import (
	"errors"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/probability"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

const (
	minHeldOut     = 20       // distinct rows; with fewer nothing is calibrated
	calibratedRows = 5 * 1500 // unlabeled rows of the five fits together
	calibratedTol  = 1e-3     // smallest tolerance of these fits: T does not need the last digits of scores
)

// calibrate finds the temperature of probabilities, if the options ask for it.
//
//	Problem  T and e of Calibration, so that a class of probability p is right in a share p of the unlabeled rows
//	Method   cross-fitting: five fits with the class shares of the fit, each without a fifth of the labels and on a fifth
//	         of the unlabeled rows, score the labeled rows held out. These get the class shares of the unlabeled rows by
//	         weights, and package probability finds T and e
//	Source   Guo, Pleiss, Sun & Weinberger 2017 (temperature); cross-fitting, as there are few labels, is ours
//	Cost     at most about one more fit, and the search for T (docs/notes/calibration.md)
func calibrate(result *fitted) error {
	x, s := result.setting, result.setting.sample
	switch {
	case !x.options.Calibrate:
		return nil
	case s.Constant():
		result.Calibration = &Calibration{Temperature: 1}
		return nil
	}
	split := crossfit.NewSplit(s, s.Job, calibratedRows)
	if split.Distinct < minHeldOut {
		result.uncalibrated(warning.Calibration.Of(minHeldOut, float64(split.Distinct)))
		return nil
	}
	held, err := crossfit.HeldOut(s, &split, 1, func(f *crossfit.Fold) ([]float64, error) { return scoresWithout(x, f) })
	var known *fault.Error
	if errors.As(err, &known) && known.Kind != fault.Cancelled && known.Kind != fault.Internal {
		result.uncalibrated(warning.CalibrationFailed.Of().Because(err.Error()))
		return nil
	}
	switch {
	case err != nil:
		return err
	case s.Job.Stopped(): // so were the further fits, after a step
		result.uncalibrated(warning.CalibrationFailed.Of().Because("the fit was stopped"))
		return nil
	}
	balance(held, x.prior.Shares)
	result.Calibration = &Calibration{HeldOut: len(held.Class),
		Temperature: probability.Temperature(s.Job, held, x.options.Loss.Spec().Temperature),
		Smoothing:   probability.Smoothing(vector.Sum(held.Held.Weight), held.Classes)}
	return nil
}

func (r *Result) uncalibrated(w warning.Warning) { r.Model.Warnings = append(r.Model.Warnings, w) }

// balance reweights the rows held out to the class shares of the unlabeled rows.
func balance(scores *crossfit.Scores, shares []float64) {
	weight := scores.Held.Weight
	totals, before, after := make([]float64, len(shares)), vector.Sum(weight), 0.0
	for i, y := range scores.Class {
		totals[y] += weight[i]
	}
	for i, y := range scores.Class {
		weight[i] *= shares[y] / totals[y]
		after += weight[i]
	}
	vector.Scale(weight, before/after)
}

// scoresWithout are the scores [Fold.Rows, K] of a fold by a fit without its labels, on its unlabeled rows.
func scoresWithout(x *setting, f *crossfit.Fold) ([]float64, error) {
	s, options := x.sample, x.options
	var labeled []int
	for k := range s.Labeled {
		if !f.Held(k) {
			labeled = append(labeled, k)
		}
	}
	p, rows := s.Restricted(labeled, f.Chosen, x.prior.ChosenLabels)
	p.Rows = s.Rows.Selected(s.Job.Pool, rows)
	options.ClassPrior = sample.ClassPrior{Shares: x.prior.Shares, Rule: "auto"}
	options.Tol = max(options.Tol, calibratedTol)
	part, err := sample.New(p, options.OfSample(), s.Job.Silent())
	if err != nil {
		return nil, err
	}
	without, err := newSetting(part, sample.Problem{}, options, &record{})
	if err != nil {
		return nil, err
	}
	result, err := run(without, part.Job, start{}, 0)
	if err != nil {
		return nil, err
	}
	models := 1
	if x.views > 0 {
		models = 3
		without.weak = x.weak
		views, err := newCommittee(without, x.views)
		if err != nil {
			return nil, err
		}
		views.join(result)
	}
	x.trained.add("calibrate", models, part.Job.Visited(), s.Pass)
	decisions := make([]float64, len(f.Rows)*result.Model.Outputs)
	if err := result.Model.Decisions(s.Job.Pool, s.Rows.Selected(s.Job.Pool, f.Rows), decisions); err != nil {
		return nil, err
	}
	return byClass(decisions, result.Model.Outputs), nil
}

// byClass are the scores [n, K] for decisions [n, outputs].
func byClass(decisions []float64, outputs int) []float64 {
	if outputs > 1 {
		return decisions
	}
	scores := make([]float64, 2*len(decisions))
	for i, f := range decisions {
		scores[2*i+1] = f
	}
	return scores
}
