package expectation

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// Problem is a risk whose unlabeled rows have a joint cost, at the supervised solution.
type Problem struct {
	Risk     *risk.Risk
	Newton   *minimize.Newton
	Prior    []float64           // [K] φ
	Tol      float64             // of the last solve
	MaxSteps int                 // outer steps, at least 1
	Warm     bool                // the risk is near the solution: begin at the full weight
	Note     func(level float64) // is called after every outer step with the weight of the unlabeled rows
	Stopped  func() bool         // the caller wants what there is after this step
}

// Outcome says how a method ended. Constraint: the multipliers did not meet the prior.
type Outcome struct {
	minimize.Outcome
	Steps    int
	Reason   ending.Reason
	Residual float64 // largest distance of a mean probability from its share
}

// Tolerance is the residual at which the prior counts as held.
const Tolerance = 1e-4

const (
	firstWeight = 10.0 // μ of the augmented Lagrangian; 1 to 100 take about as many passes on 20 Newsgroups
	stiffen     = 2.0  // factor on μ where a round
	fall        = 4.0  // has not lowered the residual so many times
	firstLevel  = 0.01 // of the weight of the entropy: below it the rows hardly move
	raise       = 3.0
	pathSteps   = 8   // Newton steps on the way
	looseness   = 30  // solves on the way may end at this many times Tol
	line        = 0.3 // fraction of the slope at which a line search may end
	finalSteps  = 50  // Newton steps of a round
	rounds      = 40  // at full weight
	patience    = 8   // rounds without progress
)

// Equality holds the prior exactly.
func Equality(prior []float64) *Multipliers {
	return &Multipliers{Prior: prior, Lambda: make([]float64, len(prior)), Weight: firstWeight}
}

// Regularize minimizes the risk with the entropy of the unlabeled rows and the hold of the prior.
//
//	Problem  min over W  F(W) + C Σ_j u_j H(p_j) + G(m), see Means; G by Multipliers: subject to m = φ
//	Symbols  as in Means; F risk of the labeled rows, supervised; C = 0 is expectation regularization
//	Source   Keerthi, Sundararajan & Shevade 2012, sections 4.1 and 4.2: augmented Lagrangian; C raised from 0, as the
//	         problem is not convex. One renewal of the multipliers a level; at full C until both agree. Newton steps with
//	         the convex model of the curvature: on 20 Newsgroups they took 0.5 to 0.9 times the passes of the exact
//	         one, to the same objective within 1e-3. The exact one takes its turn where a round has not sufficed
//	Stops    the last solve has converged (gradient as small as Tol asks where F + Ψ curves by α) and the residual is at
//	         most Tolerance; no progress in patience rounds; max_iter
//	Cost     a level: up to pathSteps Newton steps, see minimize
func Regularize(p Problem, means *Means, entropy float64) Outcome {
	levels := append(rising(entropy), entropy)
	levels = levels[max(0, len(levels)-p.MaxSteps):]
	if p.Warm {
		levels = levels[len(levels)-1:]
	}
	means.Convex = true
	steps := 0
	for _, level := range levels[:len(levels)-1] {
		if p.Stopped() {
			break
		}
		means.Entropy = level
		outcome := p.minimize(looseness*p.Tol, pathSteps)
		means.Evaluate(p.Risk.Scores())
		steps++
		p.Note(level)
		if m, ok := means.Constraint.(*Multipliers); ok {
			m.Update(means.M)
		}
		if !finite(outcome) {
			return Outcome{Outcome: outcome, Steps: steps, Reason: ending.NotFinite}
		}
	}
	means.Entropy = entropy
	return p.settle(means, steps)
}

func (p Problem) minimize(tolerance float64, steps int) minimize.Outcome {
	limits := minimize.Limits{Tolerance: tolerance, MaxSteps: steps, Line: line}
	return p.Newton.Minimize(risk.Nonconvex{Risk: p.Risk}, limits)
}

// rising are the weights of the entropy before the full one.
func rising(full float64) (levels []float64) {
	if full == 0 {
		return nil
	}
	levels = []float64{0}
	for share := firstLevel; share < 1; share *= raise {
		levels = append(levels, share*full)
	}
	return levels
}

// settle solves at full weight until the multipliers meet the prior.
func (p Problem) settle(means *Means, steps int) Outcome {
	out := Outcome{Steps: steps, Reason: ending.MaxIter}
	multipliers, exact := means.Constraint.(*Multipliers)
	last, least, stuck := 1.0, 1.0, 0
	for range rounds {
		out.Outcome = p.minimize(p.Tol, finalSteps)
		means.Evaluate(p.Risk.Scores())
		out.Residual = Residual(means.M, p.Prior)
		out.Steps++
		p.Note(means.Entropy)
		held := !exact || out.Residual <= Tolerance
		if stuck++; out.Residual < 0.9*least || held {
			stuck, least = 0, min(least, out.Residual)
		}
		switch {
		case !finite(out.Outcome):
			out.Reason = ending.NotFinite
			return out
		case out.Converged && held:
			out.Reason = ending.Converged
			return out
		case exact && stuck >= patience:
			out.Reason = ending.Constraint
			return out
		case p.Stopped():
			out.Reason = ending.Stopped
			return out
		case out.Steps >= p.MaxSteps:
			return out
		}
		if exact {
			multipliers.Update(means.M)
			if out.Residual > max(Tolerance, last/fall) {
				multipliers.Weight *= stiffen
			}
			last = out.Residual
		}
		if !out.Converged {
			means.Convex = !means.Convex
		}
	}
	out.Reason = ending.NotConverged
	if exact && out.Residual > Tolerance {
		out.Reason = ending.Constraint
	}
	return out
}

// Project minimizes the risk with the distance of the unlabeled rows' probabilities from labels that keep the prior.
//
//	Problem  min over W  F(W) + Ψ(s), see Posterior
//	Stops    gradient as small as Tol asks where F + Ψ curves by α; no step can improve any more; max_iter
//	Cost     a few Newton steps: at labels held fixed the problem is convex, and the labels move little
func Project(p Problem, posterior *Posterior) Outcome {
	out := Outcome{Reason: ending.MaxIter}
	for out.Steps < p.MaxSteps {
		out.Outcome = p.minimize(p.Tol, pathSteps)
		posterior.Evaluate(p.Risk.Scores())
		out.Residual = Residual(posterior.M, p.Prior)
		out.Steps++
		p.Note(posterior.Weight)
		switch {
		case !finite(out.Outcome):
			out.Reason = ending.NotFinite
			return out
		case out.Converged:
			out.Reason = ending.Converged
			return out
		case out.Outcome.Steps < pathSteps || out.Steps >= rounds:
			out.Reason = ending.NotConverged
			return out
		case p.Stopped():
			out.Reason = ending.Stopped
			return out
		}
	}
	return out
}

// finite reports whether a solve has not left the range of numbers.
func finite(o minimize.Outcome) bool { return o.Gap-o.Gap == 0 }
