// Package shares finds the shares of the classes among the unlabeled rows where nobody gives them.
//
//	Problem  labeled rows have the class shares π, unlabeled rows unknown shares φ; within a class both are drawn alike
//	         (label shift). People often label the same number of rows of each class, so π may say nothing of φ
//	Symbols  K classes; l total weight of the labeled rows, in rows; s_iv scores [K] of row i by a model of view v that
//	         has not seen its label; p_i = softmax(Σ_v β_v s_iv + b) calibrated probabilities; m_y their mean over
//	         labeled rows
//	Source   Saerens, Latinne & Decaestecker 2002, equation 2.9 (EM for φ); Alexandari, Kundaje & Shrikumar 2020
//	         (calibration with a bias for each class before it)
//	Method   models of two views, linear ones of the labeled rows and mixtures of all, five of each without a fifth of
//	         the labels, score the rows held out and a fifth of the unlabeled rows each (fit/shares.go). β and b are
//	         fitted to the rows held out (calibration.go). EM with a Dirichlet prior finds φ, which is shrunk to the
//	         expected shares as far as the difference may be chance (shift.go)
//	Differences  p_iy is divided by m_y in place of π_y: the scores of a class with one label, which is never held out,
//	         are low in all rows; the Dirichlet prior keeps a class with few labels from losing all of its rows
//	Groups   every machine fits the same models to the same rows of all
//	Cost     six supervised fits of the labeled rows; five mixtures of these and at most 2,500 unlabeled rows, up
//	         to eight steps of two passes each
//
// Measured, with what was rejected, in docs/notes/class-shares.md.
package shares

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// Evidence is what shares are estimated from.
type Evidence struct {
	*crossfit.Scores
	Predicted []float64 // [K] π̂, shares that the supervised classifier of all labels predicts
}

// Prior is the class shares of the unlabeled rows and how they were found.
type Prior struct {
	Shares       []float64 // [K] φ
	ChosenLabels bool      // the labeled rows were probably not drawn at random
	Evidence     *Evidence // for estimated shares, otherwise nil
	Warnings     []warning.Warning
}

// Find finds the shares by the option class_prior, changed where weakly labeled rows do not allow them. evidence is
// asked for where shares are estimated.
func Find(s *sample.Sample, evidence func() (*Evidence, error)) (*Prior, error) {
	prior, err := find(s, evidence)
	if err != nil {
		return nil, err
	}
	return prior.Allowed(s)
}

// With is the prior with other shares.
func (p *Prior) With(shares []float64) *Prior {
	out := *p
	out.Shares = shares
	return &out
}

// find finds the shares by the option: those of the labels where no unlabeled row takes part, even ones where
// descriptions are the only labels.
func find(s *sample.Sample, evidence func() (*Evidence, error)) (*Prior, error) {
	switch {
	case s.Options.ClassPrior.Shares != nil:
		return given(s)
	case s.All.Labeled == 0:
		return &Prior{Shares: likely(s)}, nil
	}
	labels := &Prior{Shares: OfLabels(s)}
	if s.Constant() {
		return labels, nil
	}
	if err := checkLabels(s, labels.Shares); err != nil {
		return nil, err
	}
	switch classes := s.Classes(); {
	case s.Options.ClassPrior.Rule == "labels" || !s.Transductive():
		return labels, nil
	case s.OnlyDescribed(): // even shares
		return labels.With(slices.Repeat([]float64{1 / float64(classes)}, classes)), nil
	}
	scored, err := evidence()
	if err != nil {
		return nil, err
	}
	shares, drawn := scored.Shares(s.Job)
	return &Prior{Shares: shares, ChosenLabels: drawn < 0.5, Evidence: scored}, s.CheckFinite(0, shares)
}

// OfLabels are the class shares [K] of the labeled rows of all machines. Classes may have descriptions alone.
func OfLabels(s *sample.Sample) []float64 {
	rows := s.All.DrawnRows
	if s.All.Described > 0 && slices.Min(rows) == 0 {
		return smoothed(rows)
	}
	return floats.ScaleTo(make([]float64, len(rows)), 1/vector.Sum(rows), rows)
}

func given(s *sample.Sample) (*Prior, error) {
	shares := s.Options.ClassPrior.Shares
	if len(shares) != s.Classes() {
		return nil, fault.Argument("class_prior has %d shares, but there are %d classes%s", len(shares), s.Classes(),
			s.Options.ClassNames.InBrackets())
	}
	if s.Options.ClassPrior.Rule == "" { // estimated shares can be 0: see Allowed
		for class, share := range shares {
			if !(share > 0 && share < 1) {
				return nil, fault.Argument("class_prior of class %s is %v: it must lie between 0 and 1",
					s.Options.ClassNames.Of(class), share)
			}
		}
		shares = slices.Clone(shares)
		if total := vector.Normalize(shares); math.Abs(total-1) > 1e-6 {
			return nil, fault.Argument("class_prior sums to %v: it must sum to 1, divide each share by the sum", total)
		}
	}
	prior := &Prior{Shares: shares}
	for class, weight := range s.All.ClassRows {
		if weight == 0 && s.All.Labeled > 0 && !s.OneClass() { // labels of one class only are a use of their own
			prior.Warnings = append(prior.Warnings, warning.NoLabel.Of(float64(class)))
		}
	}
	return prior, nil
}

// checkLabels refuses labels from which shares cannot be estimated.
func checkLabels(s *sample.Sample, labels []float64) error {
	names := s.Options.ClassNames
	if class := slices.Index(s.All.ClassRows, 0); class >= 0 {
		cure := "label one"
		if s.All.Empty > 0 {
			cure += " or describe it by features of the rows, such as words of the texts"
		}
		return fault.Data("class %s has no labeled row: %s, or give class_prior with its share%s", names.Of(class), cure,
			names.Note())
	}
	for class, share := range labels {
		if !(share > 0 && share < 1) {
			return fault.Data("weights: the labeled rows of class %s have a share of %.3g of the labeled weight, which "+
				"cannot be the class prior: make the weights less unequal, or give class_prior", names.Of(class), share)
		}
	}
	return nil
}

// likely are the class shares by weak labels alone: rows count by the excess of their likeliest class over chance.
func likely(s *sample.Sample) []float64 {
	shares := make([]float64, s.Classes())
	for k, weight := range s.UnlabeledRows {
		p := s.Weak.Of(k).Probabilities(len(shares))
		vector.Add(shares, weight*max(0, slices.Max(p)-1/float64(len(shares))), p)
	}
	s.Job.Reduce(shares)
	vector.Scale(shares, 1/vector.Sum(shares))
	return shares
}

// Allowed is the prior with shares that labels can keep, as weakly labeled rows cannot have some classes.
//
//	Problem  soft labels with these shares and the smallest weight on forbidden classes; the shares where rows move that
//	         weight to classes that they may have
//	Source   Hall 1935, for rows with weights: labels exist unless rows confined to a set of classes weigh more than its
//	         share
//	Stops    given shares that are off by the weight of a row or more are refused
//	Cost     three times soft labels
func (p *Prior) Allowed(s *sample.Sample) (*Prior, error) {
	if !s.All.Forbids || !s.Transductive() {
		return p, nil
	}
	shares, costs := p.Shares, make([]float64, len(s.Unlabeled)*len(p.Shares))
	for k := range s.Unlabeled {
		row := s.Weak.Of(k)
		for y := range shares {
			if math.IsInf(row.Of(int32(y)), 1) {
				costs[k*len(shares)+y] = 1
			}
		}
	}
	soft, multipliers := make([]float64, len(costs)), make([]float64, len(shares))
	for _, temperature := range []float64{1, 0.1, coldest} {
		labeling.SoftLabels(s.Job, soft, costs, s.UnlabeledWeight, shares, multipliers, temperature, labeling.Exact)
	}
	kept, moved := keptShares(s, soft, costs)
	_, heaviest := s.Job.Range(0, slices.Max(append([]float64{0}, s.UnlabeledWeight...)))
	if s.Options.ClassPrior.Rule == "" && moved >= heaviest*(1-1e-9) {
		names, most := s.Options.ClassNames, 0
		for y, share := range kept {
			if math.Abs(share-shares[y]) > math.Abs(kept[most]-shares[most]) {
				most = y
			}
		}
		return nil, fault.Data("class_prior gives class %s a share of %.4g, but some rows without a label cannot have some "+
			"classes: a share of %.4g is possible%s", names.Of(most), shares[most], kept[most], names.Note())
	}
	if moved < heaviest/2 {
		return p, nil
	}
	return p.With(kept), nil
}

const coldest = 0.02 // temperature at which soft labels avoid forbidden classes wherever they can

// keptShares are the shares of soft labels whose weight on forbidden classes moves to the row's other classes, and that
// weight.
func keptShares(s *sample.Sample, soft, costs []float64) (shares []float64, moved float64) {
	classes := s.Classes()
	sums := make([]float64, classes+1)
	for k, weight := range s.UnlabeledWeight {
		row, cost := soft[k*classes:(k+1)*classes], costs[k*classes:(k+1)*classes]
		sums[classes] += weight * vector.Dot(row, cost)
		for y, c := range cost {
			row[y] *= 1 - c
		}
		total := vector.Sum(row)
		if total == 0 { // of classes whose share is 0
			row[slices.Index(cost, 0)], total = 1, 1
		}
		vector.Add(sums[:classes], weight/total, row)
	}
	s.Job.Reduce(sums)
	return sums[:classes], sums[classes]
}

// Options are the settings of an estimate and of its Interval.
type Options struct {
	Times        int
	Level        float64 // probability that the interval holds the share
	Seed         int
	FitIntercept bool
	Threads      int
}

func Defaults() Options {
	return Options{Times: 50, Level: 0.9, FitIntercept: true, Threads: 1}
}

func (o *Options) Table() option.Table {
	return option.Table{
		{Name: "n_bootstraps", Value: &o.Times, Minimum: 2, Maximum: 1e6},
		{Name: "confidence_level", Value: &o.Level, Exclusive: true, Maximum: 1 - 1e-9},
		{Name: "random_state", Value: &o.Seed},
		{Name: "fit_intercept", Value: &o.FitIntercept},
		{Name: "threads", Value: &o.Threads, Minimum: 1},
	}
}
