package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/warning"
)

func FitOneClass(r *Run) *Solution {
	s := r.Objective.Sample
	decision := float64(2*s.Class[0] - 1)
	r.Path.Trace.Warn(warning.OneClass, float64(s.Class[0]))
	r.Path.Reason = ending.OneClass
	return &Solution{Coef: make([]float64, s.Features), Intercept: []float64{decision}, Loss: r.Objective.Loss(0),
		Outputs: slices.Repeat([]float64{decision}, s.Rows.Rows()), Converged: true}
}

func FitSupervised(r *Run) *Solution {
	p, limits := r.Path, r.Path.Limits.Supervised()
	p.Reason = ending.Converged
	r.byDual()
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
	solution := r.read(d.risk) // with the scores of unlabeled rows
	p.Measure = func() (value, share float64) {
		return r.measure(solution.Loss, solution.Regularizer, solution.Score(r.Objective))
	}
	p.Record(0, 0)
	return solution
}

// byDual begins with the dual of two classes with the squared hinge and many labeled rows; few are a preconditioner,
// with which Newton steps are as fast, and long or dense rows in random order take longer.
func (r *Run) byDual() {
	o, s := r.Objective, r.Objective.Sample
	if r.Options.Loss != SquaredHinge || !s.Paired() || o.Start != nil || o.Job.Group != nil || s.Rows.Dense() ||
		len(s.Labeled) > s.Rows.Cols() || s.Rows.NonZeros() > largestDual ||
		risk.Preconditions(len(s.Labeled), s.Rows.NonZeros()) {
		return
	}
	d := &dual{rows: s.Rows, listed: s.Labeled, constant: s.Options.FitIntercept}
	for k, y := range s.Class {
		d.sign, d.cost = append(d.sign, float64(2*y-1)), append(d.cost, s.LabeledWeight[k]/o.Alpha)
	}
	w, b := d.descend(o.Job)
	near := &model.Linear{Classes: 2, Features: s.Features, Outputs: 1, Coef: make([]float64, s.Features),
		Intercept: []float64{b}}
	for k, v := range w {
		near.Coef[s.Feature[k]] = v / s.Length
	}
	o.Start = &objective.Start{Sample: s, Model: near}
}

// largestDual is a number of non-zeros that caches hold: 6,000,000 in random order took 1.6 to 1.8 times as long.
const largestDual = 2_000_000

// FitScores is the loose solution at the hard labels that keep the shares and have the largest scores [unlabeled, K].
func FitScores(r *Run, scores []float64) *Solution {
	d := r.descent()
	r.Costs.Admit(d.risk)
	hard := belief.NewHard(d.risk, r.Costs, nil)
	hard.BeginByScores(scores)
	hard.Enter(1)
	r.Path.Last = d.solve(d.risk)(r.Path.Limits.Way(r.Path.Limits.Start().MaxSteps))
	return r.read(d.risk)
}
