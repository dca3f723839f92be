package method

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/schedule"
)

// project minimizes the risk with the distance of the unlabeled rows' probabilities from labels that keep the prior.
//
//	Problem  min over W  F(W) + Ψ(s), see belief.Posterior
//	Stops    a solve has converged; no step lowers the objective; max_iter
//	Cost     a few Newton steps: at labels held fixed the problem is convex
func project(d *descent) *Solution {
	projected := belief.NewProjected(d.risk, d.Objective, d.Options.KLWeight)
	d.began(d.risk.Score)
	d.measureProbable(projected.Measure)
	solve := d.solve(risk.Nonconvex{Risk: d.risk})
	d.Path.Complete(solve, projected, &repeated{weight: d.Options.KLWeight}, minimize.Limits{Tolerance: d.Options.Tol,
		MaxSteps: pathSteps, Line: path.Line})
	warnProbable(d.Run, false, projected.Residual)
	solution := d.read(d.risk)
	solution.SoftLabels = projected.Posterior.Labels
	return solution
}

// repeated are solves at the same weight until one has converged.
type repeated struct {
	weight float64
	count  int
}

func (s *repeated) Level() (value, historyLevel float64) { return 1, s.weight }

func (s *repeated) Next(step schedule.Step) ending.Reason {
	s.count++
	switch {
	case step.Solve.Converged:
		return ending.Converged
	case step.Solve.Steps < pathSteps || s.count >= maxRounds:
		return ending.NotConverged
	}
	return ending.None
}
