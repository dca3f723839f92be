package method

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/path"
)

// supervise fits the labeled rows alone.
func supervise(r *Run) *Solution {
	p, limits := r.Path, r.Path.Limits.Supervised()
	p.Reason = path.Converged
	d := r.descent()
	p.Last = d.sharpen(d.newton.Minimize(d.risk, limits))
	p.Last.Converged = p.Last.Converged || p.Last.Gap <= p.Limits.Tol*p.Last.Value
	if p.Steps = p.Last.Steps; !p.Last.Converged && p.Steps == p.Limits.MaxIter {
		p.Reason = path.MaxIter
	}
	if r.Objective.Sample.All.Unlabeled == 0 {
		p.Record(0, 0)
		return d.read(nil)
	}
	solution := d.read(nil) // with the scores of unlabeled rows
	p.Measure = func() (value, share float64) {
		return r.Objective.Measure(solution.Loss, solution.Regularizer, solution.Score(r.Objective))
	}
	p.Record(0, 0)
	return solution
}

// atScores is the loose solution at the hard labels that keep the shares and have the largest scores of the run.
func atScores(r *Run) *Solution {
	d := r.descent()
	r.Costs.Admit(d.risk)
	hard := belief.NewHard(d.risk, r.Costs, nil)
	hard.BeginByScores(r.Scores)
	hard.Enter(1)
	r.Path.Last = d.newton.Minimize(d.risk, r.Path.Limits.Way(r.Path.Limits.Start().MaxSteps))
	return d.read(nil)
}
