package method

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// regularize minimizes the risk with the mean probabilities of the unlabeled rows held at the class prior.
//
//	Problem  min over W  F(W) + C Σ_j u_j H(p_j) + G(m), see belief.Means; G by Multipliers: subject to m = φ
//	Symbols  as there; F risk of the labeled rows, supervised; C entropy, 0 for expectation regularization
//	Source   Keerthi, Sundararajan & Shevade 2012, sections 4.1 and 4.2: augmented Lagrangian; C raised from 0, as the
//	         problem is not convex. The convex model of the curvature takes 0.5 to 0.9 times the passes of the exact one
//	         on 20 Newsgroups; they take turns where a round has not converged
//	Stops    the last solve has converged and the residual is at most belief.Tolerance; no progress in patience rounds;
//	         max_iter
//	Cost     a level: up to pathSteps Newton steps, see minimize
func regularize(d *descent, entropy float64) *Solution {
	expected := belief.NewExpected(d.risk, d.Objective, entropy)
	p, solve := d.Path, d.solve(d.risk)
	p.Measure, p.Trace.Share, p.Trace.WithEntropy = expected.Measure, "constraint_residual", true
	if parts := entropyParts(d.Run, entropy); len(parts) > 0 {
		rising := &path.Rising{Parts: parts, Full: entropy, End: path.Converged}
		p.Follow(solve, expected, rising, downhill(looseness*d.Options.Tol, pathSteps), 1)
	}
	p.Complete(solve, expected, &rounds{Expected: expected, lowest: 1}, downhill(d.Options.Tol, finalSteps))
	warnProbable(d.Run, true, expected.Residual)
	return d.read(expected.Probabilities())
}

const (
	firstEntropy = 0.01 // of the weight of the entropy: below it few rows change
	raiseEntropy = 3.0
	pathSteps    = 8  // Newton steps on the way
	looseness    = 30 // solves on the way may end at this many times tol
	finalSteps   = 50 // Newton steps of a round
	maxRounds    = 40 // at full weight
	patience     = 8  // rounds without progress
)

func downhill(tolerance float64, steps int) minimize.Limits {
	return minimize.Limits{Tolerance: tolerance, MaxSteps: steps, Line: path.Line, Descends: true}
}

// entropyParts are the parts of the entropy's weight below 1: none from a start, the last ones where max_iter is small.
func entropyParts(r *Run, entropy float64) []float64 {
	if entropy == 0 || r.AtOnce {
		return nil
	}
	parts := append([]float64{0}, path.Parts(firstEntropy, raiseEntropy)...)
	return parts[max(0, len(parts)+1-r.Options.MaxIter):]
}

// rounds are the schedule at full weight: solves until the multipliers meet the prior.
type rounds struct {
	*belief.Expected
	lowest       float64 // residual
	count, stuck int     // rounds, and those without progress
}

func (s *rounds) Level() (value, historyLevel float64) { return 1, s.Full }

func (s *rounds) Next(step path.Step) path.Reason {
	held := s.Residual <= belief.Tolerance
	if s.stuck++; s.Residual < 0.9*s.lowest || held {
		s.stuck, s.lowest = 0, min(s.lowest, s.Residual)
	}
	s.count++
	switch {
	case step.Solve.Converged && held:
		return path.Converged
	case s.stuck >= patience || s.count == maxRounds && !held:
		return path.Constraint
	case s.count == maxRounds:
		return path.NotConverged
	}
	if !step.Solve.Converged {
		s.Means.Convex = !s.Means.Convex
	}
	return path.None
}

// warnProbable warns where the class prior is not met, or the last solve has not converged.
func warnProbable(r *Run, exact bool, residual float64) {
	trace, last := r.Path.Trace, r.Path.Last
	switch reason := r.Path.Reason; {
	case reason == path.Constraint:
		trace.Warn(warning.Constraint, residual, belief.Tolerance)
	case reason == path.MaxIter && exact:
		trace.Warn(warning.MaxIterResidual, float64(r.Options.MaxIter), residual)
	case reason == path.MaxIter:
		trace.Warn(warning.MaxIter, float64(r.Options.MaxIter))
	case reason == path.NotConverged:
		trace.Warn(warning.NotConverged, last.Gap/math.Abs(last.Value), r.Options.Tol)
	}
}

// project minimizes the risk with the distance of the unlabeled rows' probabilities from labels that keep the prior.
//
//	Problem  min over W  F(W) + Ψ(s), see belief.Posterior
//	Stops    a solve has converged; no step lowers the objective; max_iter
//	Cost     a few Newton steps: at labels held fixed the problem is convex
func project(d *descent) *Solution {
	projected := belief.NewProjected(d.risk, d.Objective, d.Options.KLWeight)
	p := d.Path
	p.Measure, p.Trace.Share, p.Trace.WithEntropy = projected.Measure, "constraint_residual", true
	p.Complete(d.solve(d.risk), projected, &repeated{weight: d.Options.KLWeight}, downhill(d.Options.Tol, pathSteps))
	warnProbable(d.Run, false, projected.Residual)
	return d.read(projected.Posterior.Labels)
}

// repeated are solves at the same weight until one has converged.
type repeated struct {
	weight float64
	count  int
}

func (s *repeated) Level() (value, historyLevel float64) { return 1, s.weight }

func (s *repeated) Next(step path.Step) path.Reason {
	s.count++
	switch {
	case step.Solve.Converged:
		return path.Converged
	case step.Solve.Steps < pathSteps || s.count >= maxRounds:
		return path.NotConverged
	}
	return path.None
}
