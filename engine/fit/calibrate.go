package fit

import (
	"errors"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

const (
	calibratedRows = 5 * 1500 // unlabeled rows of the five fits together
	calibratedTol  = 1e-3     // smallest tolerance of these fits: T does not need the last digits of scores
	agreedRows     = 6.0      // c
	growth         = 0.6      // g
	fewRows        = 20       // unlabeled rows; with fewer, T = T' is that of the labeled rows held out
	openShare      = 0.15     // what a may be off by without a warning
	unlike         = 0.25     // part of the rows in which the fits differ from the classifier that a may be off by
)

// calibrate finds the temperatures of probabilities, if the options ask for it.
//
//	Problem  probabilities are on average as large as the share a of the rows whose class is found: by the temperature
//	         T for new rows, by T' for the unlabeled rows of the fit, which has pushed their scores off the boundary
//	Method   cross-fitting: five fits with the class shares of the fit, each without a fifth of the labels and on a fifth
//	         of the unlabeled rows, score the labeled rows held out, the unlabeled rows of their own, and those of the
//	         next fit. Labels held out are weighted to the class shares, as much as h rows of weight 1
//	         1. a is the share of the labels held out that are found, and counts h; the share of the rows of the next fit
//	            in which a fit agrees with the classifier counts c √h. Half a row at least is not found
//	         2. T' gives the unlabeled rows, by the classifier, the mean a of their largest probability
//	         3. T = T' (t / t')^((m/n)^g): t gives that mean to the rows of the next fit, t' to its own. A fit has m of n
//	            rows, and the more there are, the less does each one push its own score
//	Source   ours. One temperature for all classes is that of Guo, Pleiss, Sun & Weinberger 2017. Measured, with what was
//	         rejected, in docs/notes/calibration.md
//	Cost     at most about one more fit, and three searches for temperatures
func calibrate(result *fitted) error {
	d, s := result.data, result.data.sample
	switch {
	case !d.options.Calibrate:
		return nil
	case s.Constant():
		result.Calibration = &Calibration{Temperature: 1}
		return nil
	}
	split := crossfit.NewSplit(s, calibratedRows)
	if split.Folds == 0 {
		result.uncalibrated("no class has two different labeled rows. Label more rows")
		return nil
	}
	next := &nextRows{Scored: crossfit.Scored{Views: make([][]float64, 1)}}
	held, err := crossfit.HeldOut(s, &split, 1, func(f *crossfit.Fold) ([][]float64, error) {
		scores, err := next.score(result, f)
		return [][]float64{scores}, err
	})
	if known, ok := errors.AsType[*fault.Error](err); ok && known.Kind != fault.Cancelled && known.Kind != fault.Internal {
		result.uncalibrated(err.Error())
		return nil
	}
	switch {
	case err != nil:
		return err
	case s.Job.Stopped(): // so were the further fits, after a step
		result.uncalibrated("the fit was stopped")
		return nil
	}
	result.setTemperatures(&split, held, next)
	return nil
}

func (r *Result) uncalibrated(reason string) {
	r.Model.Warnings = append(r.Model.Warnings, warning.CalibrationFailed.Of().And(": "+reason))
}

// nextRows are the unlabeled rows of the fit after each of the five, with scores by that one.
type nextRows struct {
	crossfit.Scored
	places []int // in Split.Unlabeled
}

// score scores the rows of a fold by the fit without its labels, and keeps scores of the rows of the next one.
func (next *nextRows) score(result *fitted, f *crossfit.Fold) ([]float64, error) {
	d, s, split, rows := result.data, result.data.sample, f.Split, slices.Clone(f.Rows)
	for k, place := range split.Unlabeled {
		if split.Chosen[k] == (f.Number+1)%split.Folds {
			next.places, next.Weight = append(next.places, k), append(next.Weight, s.UnlabeledRows[place])
			rows = append(rows, s.Unlabeled[place])
		}
	}
	part, err := d.of(s.Keep(f.Held, f.Chosen), d.prior, d.options, s.Job.Silent())
	if err != nil {
		return nil, err
	}
	part.name = "calibrate"
	without, err := part.Train(Member{tol: max(d.options.Tol, calibratedTol)})
	if err != nil {
		return nil, err
	}
	if result.CommitteeWeight > 0 {
		tol := max(d.options.Tol, calibratedTol)
		views, err := part.views(result.CommitteeWeight, tol, true)
		if err == nil {
			err = without.join(views, result.CommitteeWeight, tol)
		}
		if err != nil {
			return nil, err
		}
	}
	scores, err := d.scoresBy(without.Model, rows)
	if err != nil {
		return nil, err
	}
	cut := len(f.Rows) * s.Classes()
	next.Views[0] = append(next.Views[0], scores[cut:]...)
	return scores[:cut], nil
}

// agreement is the share of the rows for which the scores [Split.Unlabeled, K] of the classifier have the same class.
func (next *nextRows) agreement(scores []float64, classes int) float64 {
	agreed, total := 0.0, 0.0
	for i, k := range next.places {
		total += next.Weight[i]
		if vector.Largest(next.Views[0][i*classes:][:classes]) == vector.Largest(scores[k*classes:][:classes]) {
			agreed += next.Weight[i]
		}
	}
	return agreed / total
}

// setTemperatures sets the temperatures and the probabilities of the rows of the fit, from scores by the five fits.
func (r *fitted) setTemperatures(split *crossfit.Split, held *crossfit.Scores, next *nextRows) {
	d, s, k := r.data, r.data.sample, held.Classes
	h, labels := balance(held, d.prior.Shares), vector.Sum(held.Held.Weight)
	right, e := 1-held.Wrong(held.Held.Views[0])/labels, smoothing(labels, k)
	scores, rows, many := d.decisions(s.Packed(r.Model)).of(s.Unlabeled), held.Held, len(split.Unlabeled) >= fewRows
	agreed, c := 1.0, 0.0
	if many {
		rows = crossfit.Scored{Views: make([][]float64, 1)}
		for _, j := range split.Unlabeled {
			rows.Views[0] = append(rows.Views[0], scores[j*k:(j+1)*k]...)
			rows.Weight = append(rows.Weight, s.UnlabeledRows[j])
		}
		agreed, c = next.agreement(rows.Views[0], k), agreedRows*math.Sqrt(h)
	}
	r.warnOpen(right, h, agreed, len(held.Class))
	right = min((h*right+c*agreed)/(h+c), 1-0.5/(h+c))
	of := func(rows crossfit.Scored) float64 {
		return temperature(s.Job, rows, k, right, d.options.Loss.Spec().Temperature)
	}
	ofFit, excess := of(rows), 1.0
	if many && s.Transductive() {
		part := float64(len(split.Unlabeled)) / float64(split.Folds*len(s.Unlabeled))
		excess = math.Pow(of(next.Scored)/of(held.Unlabeled), math.Pow(part, growth))
	}
	r.Calibration = &Calibration{HeldOut: len(held.Class), Temperature: ofFit * excess, Smoothing: e}
	r.Distributions = distributions(d, probabilities(s, scores, ofFit, e))
}

// probabilities makes probabilities of the unlabeled rows of their scores [unlabeled, K].
func probabilities(s *sample.Sample, scores []float64, t, e float64) []float64 {
	k := s.Classes()
	s.Job.Every(len(s.Unlabeled), func(j int) {
		row := scores[j*k : (j+1)*k]
		probability(row, row, t, e)
		s.Weak.Of(j).Restrict(row)
	})
	return scores
}

// warnOpen warns where a is open: by two standard errors of the share of labels that are found, with two more of each
// kind (Agresti & Coull 1998), and by what the fits may be worse than the classifier.
func (r *fitted) warnOpen(right, h, agreed float64, rows int) {
	share := (h*right + 2) / (h + 4)
	if off := 2*math.Sqrt(share*(1-share)/(h+4)) + unlike*(1-agreed); off > openShare {
		r.Model.Warnings = append(r.Model.Warnings, warning.Calibration.Of(float64(rows), 100*off))
	}
}

// balance reweights the rows held out to the class shares; h rows of equal weight say as much.
func balance(held *crossfit.Scores, shares []float64) (h float64) {
	weight := held.Held.Weight
	totals, before, after, squares := make([]float64, len(shares)), vector.Sum(weight), 0.0, 0.0
	for i, y := range held.Class {
		totals[y] += weight[i]
	}
	for i, y := range held.Class {
		factor := shares[y] / totals[y]
		squares += factor * factor * weight[i]
		weight[i] *= factor
		after += weight[i]
	}
	vector.Scale(weight, before/after)
	return after * after / squares
}
