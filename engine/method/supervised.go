package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
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
