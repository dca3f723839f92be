// Package objective is the objective of a fit: the losses of a sample's rows, the map of scores, the intercepts and a
// start. Start at Objective.
package objective

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/scores"
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
	Scores     scores.Map
	Prior      []float64                            // [K] φ
	Alpha      float64                              // α
	Weight     float64                              // λ'
	Loss       func(smoothing float64) loss.Classes // ξ
	Smoothings []float64                            // of the loss, decreasing
	Centered   bool                                 // the mean scores of the unlabeled rows are held at the class prior
	MeanScore  func(share float64) float64          // of a class with this share: TwoSides or OneSide
	OwnLoss    bool                                 // the loss has a form for unlabeled rows
	Start      *Start                               // nil: W = 0
}

// Map is a pair where two classes need one column only, otherwise a tree.
func Map(s *sample.Sample) (scores.Map, error) {
	switch {
	case s.Paired():
		return scores.Pair{}, nil
	case s.Options.Hierarchy == nil:
		return scores.NewTree(s.Classes(), scores.FlatParents(s.Classes()))
	}
	parents := make([]int32, len(s.Options.Hierarchy))
	for v, p := range s.Options.Hierarchy {
		parents[v] = int32(max(-2, min(p, math.MaxInt32)))
	}
	return scores.NewTree(s.Classes(), parents)
}

// frame is where the intercepts come from.
func (o *Objective) frame() risk.Frame {
	s := o.Sample
	switch {
	case !s.Options.FitIntercept:
		return risk.Frame{}
	case !o.Centered:
		return risk.Frame{Constant: true}
	case s.Paired():
		return risk.Frame{Center: s.Center(o.Job), Mean: []float64{2*o.Prior[1] - 1}}
	}
	mean := make([]float64, o.Classes)
	for y, share := range o.Prior {
		mean[y] = o.MeanScore(share)
	}
	return risk.Frame{Center: s.Center(o.Job), Mean: mean}
}

// TwoSides is the mean score where the rows of a class have the score 1 and others -1.
func TwoSides(share float64) float64 { return 2*share - 1 }

// OneSide is the mean score where the rows of a class have the score 1 and others 0.
func OneSide(share float64) float64 { return share }

// Risk is the objective with the labeled rows in it, at the start or at W = 0.
func (o *Objective) Risk() *risk.Risk {
	s, frame := o.Sample, o.frame()
	if frame.Constant {
		frame.Center = s.Center(o.Job) // the coordinates that suit conjugate gradients
	}
	r := risk.New(o.Job, s.Rows, o.Scores, o.Loss(o.Smoothings[0]), frame, o.Alpha)
	if o.Start != nil {
		o.Start.move(r, o.Scores.Outputs())
	}
	for k, i := range s.Labeled {
		r.Label[i], r.Cost[i] = s.Class[k], s.LabeledWeight[k]
	}
	r.UpdateSupport()
	r.PreconditionBy(s.Labeled, s.Copies)
	return r
}
