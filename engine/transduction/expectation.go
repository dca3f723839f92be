package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/expectation"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/problem"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// expect learns from the probabilities of the unlabeled rows, see package expectation.
func (t *task) expect() solution {
	r, newton, start := t.begin()
	if !finite(start) {
		return t.read(r, start, stop{reason: ending.NotFinite})
	}
	var out expectation.Outcome
	before := make([]int32, len(t.Unlabeled))
	solve := expectation.Problem{Risk: r, Newton: newton, Prior: t.prior, Tol: t.Options.Tol,
		MaxSteps: t.Options.MaxIter, Stopped: t.Job.Stopped, Warm: t.Start != nil}
	if t.Options.Method == problem.Posterior {
		posterior := expectation.NewPosterior(t.Job, t.Unlabeled, t.UnlabeledWeight, t.prior, r.Stride())
		posterior.Weight = t.Options.KLWeight
		t.join(r, posterior)
		solve.Note = func(level float64) { t.noteMeans(r, level, posterior.Value, posterior.M, before) }
		out = expectation.Project(solve, posterior)
		t.soft = posterior.Labels
	} else {
		means := expectation.NewMeans(t.Job, t.Unlabeled, t.UnlabeledWeight, t.classes, r.Stride())
		means.Constraint = t.constraint()
		t.join(r, means)
		entropy := 0.0
		if t.Options.Method == problem.Entropy {
			entropy = t.Options.UnlabeledWeight
		}
		solve.Note = func(level float64) {
			t.noteMeans(r, level, entropy*means.MeanEntropy+t.penalty(means), means.M, before)
		}
		out = expectation.Regularize(solve, means, entropy)
		t.soft = make([]float64, len(t.Unlabeled)*t.classes)
		means.Probabilities(t.soft, r.Scores())
	}
	t.checkExpectation(out)
	return t.read(r, out.Outcome, stop{reason: out.Reason, steps: out.Steps})
}

// constraint is how the class prior is held.
func (t *task) constraint() expectation.Constraint {
	if t.Options.Penalized() {
		return &expectation.Penalty{Prior: t.prior, Weight: t.Options.PenaltyWeight}
	}
	return expectation.Equality(t.prior)
}

// penalty is the part of the objective that holds the prior: none where it is a constraint.
func (t *task) penalty(means *expectation.Means) float64 {
	if t.Options.Penalized() {
		return means.Value
	}
	return 0
}

// join gives the unlabeled rows a joint cost.
func (t *task) join(r *risk.Risk, joint risk.Joint) {
	for k, i := range t.Unlabeled {
		r.Label[i], r.Cost[i] = risk.Jointly, t.UnlabeledWeight[k]
	}
	r.Joint = []risk.Joint{joint}
	r.Recost()
	t.noteFirst(r.Score)
}

// noteMeans adds an outer step to the history: belief is the unlabeled rows' part of the objective; before has the
// likeliest classes of the step before.
func (t *task) noteMeans(r *risk.Risk, level, belief float64, means []float64, before []int32) {
	t.believed = r.Regularizer() + t.labeledLoss(r.Loss(), r.Score) + belief
	switched, entropy, row := 0, 0.0, make([]float64, t.classes)
	for k, i := range t.Unlabeled {
		r.Score(row, i)
		y := int32(vector.Largest(row))
		if y != before[k] {
			switched++
		}
		before[k] = y
		entropy += t.UnlabeledWeight[k] * expectation.Entropy(row)
	}
	t.Record(t.believed, level, switched, expectation.Residual(means, t.prior), entropy/math.Ln2)
}

// checkExpectation warns where the class prior is not met, or the last solve did not come to its end.
func (t *task) checkExpectation(out expectation.Outcome) {
	switch {
	case out.Reason == ending.Constraint:
		t.Warn(warning.Constraint, out.Residual, expectation.Tolerance)
	case out.Reason == ending.MaxIter && !t.Options.Penalized() && t.Options.Method != problem.Posterior:
		t.Warn(warning.MaxIterResidual, float64(t.Options.MaxIter), out.Residual)
	case out.Reason == ending.MaxIter:
		t.Warn(warning.MaxIter, float64(t.Options.MaxIter))
	case out.Reason == ending.NotConverged:
		t.Warn(warning.NotConverged, relativeGap(out.Outcome), t.Options.Tol)
	}
}

func relativeGap(o minimize.Outcome) float64 { return o.Gap / math.Abs(o.Value) }
