// Package objective is the objective of a fit: losses of rows, map of scores, intercepts, start. Start at Objective.
package objective

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Objective is the objective of a run over a sample.
//
//	Problem  min over W and labels q_j  α/2 |W|² + Σ_i w_i ξ(s_i, y_i) + λ' Σ_j w_j Σ_y q_jy (ξ(s_j, y) + κ_jy)
//	         subject to Σ_j w_j q_jy = φ(y)
//	Symbols  i labeled, j unlabeled rows; w_j weights, each kind sums to 1; s_j = M Wᵀ x_j class scores; φ class prior;
//	         ξ a loss of package loss; λ' weight of the unlabeled rows; κ prior costs, see package weak
//	Source   Sindhwani & Keerthi 2006, equation 5; Keerthi, Sundararajan & Shevade 2012, equations 1 to 4
type Objective struct {
	Sample     *sample.Sample
	Job        *work.Job // of the run
	Classes    int
	Scores     *scores.Tree
	Prior      []float64                            // [K] φ
	Alpha      float64                              // α
	Weight     float64                              // λ'
	Loss       func(smoothing float64) loss.Classes // ξ
	Smoothings []float64                            // of the loss, decreasing
	Centered   bool                                 // the mean scores of the unlabeled rows are held at the class prior
	OwnLoss    bool                                 // it has a form for unlabeled rows and compares scores
	Start      *model.Linear                        // of the packed rows; nil: W = 0
}

// Map is a pair where two classes need one column only, otherwise a tree.
func Map(s *sample.Sample) (*scores.Tree, error) {
	switch {
	case s.Paired():
		return scores.Pair(), nil
	case s.Options.Hierarchy == nil:
		return scores.Flat(s.Classes()), nil
	}
	return scores.NewTree(s.Classes(), s.Options.Hierarchy)
}

func (o *Objective) frame() risk.Frame {
	if !o.Sample.Options.FitIntercept {
		return risk.Frame{}
	}
	center := o.Sample.Center(o.Job)
	if !o.Centered { // the coordinates that suit conjugate gradients
		return risk.Frame{Constant: true, Center: center}
	}
	mean := slices.Clone(o.Prior)
	if !o.OwnLoss || o.Sample.Paired() { // rows of other classes have scores of -1, not 0
		vector.Scale(mean, 2)
		floats.AddConst(-1, mean)
	}
	if o.Sample.Paired() {
		mean = mean[1:]
	}
	return risk.Frame{Center: center, Mean: mean}
}

// Risk is the objective with the labeled rows in it, at the start or at W = 0.
func (o *Objective) Risk() *risk.Risk {
	s, frame := o.Sample, o.frame()
	r := risk.New(o.Job, s.Rows, o.Scores, o.Loss(o.Smoothings[0]), frame, o.Alpha)
	if o.Start != nil {
		coef, intercept := o.Start.Coef, o.Start.Intercept
		if o.Start.Outputs < o.Scores.Outputs() {
			coef, intercept = BothSides(coef), BothSides(intercept)
		}
		r.MoveTo(coef, intercept)
	}
	for k, i := range s.Labeled {
		r.Label[i], r.Cost[i] = s.Class[k], s.LabeledWeight[k]
	}
	r.UpdateSupport()
	r.PreconditionBy(s.Labeled, s.Copies)
	return r
}

// A Scorer puts the class scores of a row into dst [K].
type Scorer func(dst []float64, row int32)

// Value is the objective at these scores, and the class shares by the scores. Unlabeled rows have their cheapest class,
// unless there is a loss of their own.
func (o *Objective) Value(l loss.Classes, regularizer float64, score Scorer) (value float64, shares []float64) {
	s, sums := o.Sample, make([]float64, 2+o.Classes) // labeled loss, unlabeled loss, shares
	o.Job.Total(len(s.Unlabeled), sums, func(lo, hi int, dst []float64) {
		scores, costs, state := make([]float64, o.Classes), make([]float64, o.Classes), make([]float64, o.Classes)
		for k := lo; k < hi; k++ {
			score(scores, s.Unlabeled[k])
			dst[2+vector.Largest(scores)] += s.UnlabeledWeight[k]
			switch label := s.Weak.Of(k); {
			case !s.Transductive():
			case o.OwnLoss && !label.Known():
				dst[1] += s.UnlabeledWeight[k] * l.At(scores, nil, costs, state)
			default:
				l.Costs(costs, scores)
				label.AddTo(costs, weak.Strength)
				dst[1] += s.UnlabeledWeight[k] * slices.Min(costs)
			}
		}
	})
	sums[0] = o.LabeledLoss(l, score)
	o.Job.Reduce(sums)
	return regularizer + sums[0] + o.Weight*sums[1], sums[2:]
}

// LabeledLoss is the part of the mean loss of all labeled rows that comes from this machine.
func (o *Objective) LabeledLoss(l loss.Classes, score Scorer) (total float64) {
	scores, costs := make([]float64, o.Classes), make([]float64, o.Classes)
	for k, i := range o.Sample.Labeled {
		score(scores, i)
		l.Costs(costs, scores)
		total += o.Sample.LabeledWeight[k] * costs[o.Sample.Class[k]]
	}
	return total
}

// Distance is the largest distance of a class's share from its prior.
func (o *Objective) Distance(shares []float64) float64 {
	return floats.Distance(shares, o.Prior, math.Inf(1))
}

// Measure gives the entries of the history at these scores: the objective, and for a pair the share of class 1,
// otherwise the distance of the shares from the prior.
func (o *Objective) Measure(l loss.Classes, regularizer float64, score Scorer) (value, share float64) {
	value, shares := o.Value(l, regularizer, score)
	switch {
	case o.Sample.Paired():
		share = shares[1]
	case o.Sample.Transductive():
		share = o.Distance(shares)
	}
	return value, share
}

// CheckStart refuses a start with other features or classes, or too large weights.
func CheckStart(s *sample.Sample, start *model.Linear) error {
	switch {
	case start.Features != s.Features:
		return fault.Argument("start has %d features, but the rows have %d", start.Features, s.Features)
	case start.Classes != s.Classes():
		return fault.Argument("start has %d classes, but the labels and class_prior have %d", start.Classes, s.Classes())
	}
	coef, intercept := floats.Norm(start.Coef, math.Inf(1)), floats.Norm(start.Intercept, math.Inf(1))
	if max(coef*s.Length, intercept) >= sample.HugeValue {
		return fault.Argument("start has weights up to %v, which are too large", max(coef, intercept))
	}
	return nil
}

// BothSides are the weights of two classes with this difference.
func BothSides(difference []float64) []float64 {
	sides := make([]float64, 0, 2*len(difference))
	for _, v := range difference {
		sides = append(sides, -v/2, v/2)
	}
	return sides
}
