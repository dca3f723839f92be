package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// FitOneClass is the model when all labeled rows have one class.
func FitOneClass(r *Run) *Solution {
	s := r.Objective.Sample
	decision := float64(2*s.Class[0] - 1)
	r.Path.Trace.Warn(warning.OneClass, float64(s.Class[0]))
	r.Path.Reason = ending.OneClass
	return &Solution{Coef: make([]float64, s.Features), Intercept: []float64{decision}, Loss: r.Objective.Loss(0),
		Outputs: slices.Repeat([]float64{decision}, s.Rows.Rows()), Converged: true}
}

// FitSupervised is the solution without unlabeled rows.
func FitSupervised(r *Run) *Solution {
	p, limits := r.Path, r.Path.Limits.Supervised()
	p.Reason = ending.Converged
	start := r.Objective.Start
	if found := r.byDual(); found != nil {
		return r.recorded(found)
	}
	if r.Objective.Start != start {
		limits.Tolerance *= exactness
	}
	d := r.descent()
	p.Last = d.sharpen(d.solve(d.risk)(limits))
	p.Last.Converged = p.Last.Converged || p.Last.Gap <= p.Limits.Tol*p.Last.Value
	if p.Steps = p.Last.Steps; !p.Last.Converged && p.Steps == p.Limits.MaxIter {
		p.Reason = ending.MaxIter
	}
	if r.Objective.Sample.All.Unlabeled == 0 {
		p.Record(0, 0)
		return r.read(d.risk)
	}
	return r.recorded(r.read(d.risk)) // only that finds the scores of unlabeled rows
}

// recorded puts a solution into the history.
func (r *Run) recorded(found *Solution) *Solution {
	r.Path.Measure = func() (value, share float64) {
		return r.measure(found.Loss, found.Regularizer, found.Score(r.Objective))
	}
	r.Path.Record(0, 0)
	return found
}

// byDual is the solution of two classes with the squared hinge by the dual, where it takes few epochs. Otherwise it is
// nil, and the run starts where these have ended. Few labeled rows are a preconditioner, with which Newton steps are
// as fast; machines that share rows take Newton steps, to a solution within the same tolerance.
//
//	Source   Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, see package dual. Measured on comp.*, GCAT, CCAT and text1
//	         with all labels, in parts of the time of Newton steps alone: 0.6 to 0.8 at α = 1e-3, 0.5 to 1 at 1e-4, 0.7
//	         to 1.1 at 1e-2 and 1e-5, 0.6 to 1.4 at 1e-6. Rejected dense rows, and fewer features than rows: 1.1 to 3.9
//	         times; 6,000,000 non-zeros, which no cache holds in random order: 1.6 and 1.8 times at 1e-2 and 1e-3
func (r *Run) byDual() *Solution {
	o, s, p := r.Objective, r.Objective.Sample, r.Path
	if !r.Loss.Squared || !s.Paired() || o.Start != nil || o.Job.Group != nil || s.Rows.Dense() ||
		len(s.Labeled) > s.Rows.Cols() || s.Rows.NonZeros() > mostDual ||
		risk.Preconditions(len(s.Labeled), s.Rows.NonZeros()) {
		return nil
	}
	d := newDual(r, 0)
	primal, gap := d.Solve(exactness*p.Limits.Final.Tolerance, dualEpochs)
	p.Last = minimize.Outcome{Value: primal, Gap: gap, Converged: gap <= p.Limits.Final.Tolerance*primal}
	found := readDual(r, d)
	if !p.Last.Converged {
		o.Start = &objective.Start{Sample: s, Model: &model.Linear{Classes: 2, Features: s.Features, Outputs: 1,
			Coef: found.Coef, Intercept: found.Intercept}}
		return nil
	}
	p.Steps = 1
	return found
}

const (
	exactness  = 0.01 // of the tolerance: Newton steps from afar end as far below it
	dualEpochs = 10
	mostDual   = 2_000_000 // non-zeros
)

// FitScores is the solution, loosely, at the hard labels of the unlabeled rows that have the largest sum of scores
// [unlabeled, K] within the class shares.
func FitScores(r *Run, scores []float64) *Solution {
	d := r.descent()
	r.Costs.Admit(d.risk)
	hard := belief.NewHard(d.risk, r.Costs, 0)
	hard.BeginByScores(scores)
	hard.Enter(1)
	r.Path.Last = d.solve(d.risk)(r.Path.Limits.Way(r.Path.Limits.Start().MaxSteps))
	return r.read(d.risk)
}
