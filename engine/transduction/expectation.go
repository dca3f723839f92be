package transduction

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/expectation"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// probable says whether the method learns from the probabilities of the unlabeled rows instead of their labels.
func (o *Options) probable() bool { return slices.Contains(probable, o.Method) }

var probable = []string{"entropy", "expectation", "posterior"}

// penalized says that the class prior is held at a cost only.
func (o *Options) penalized() bool { return o.Constraint == "penalty" }

// expect learns from the probabilities of the unlabeled rows, see package expectation.
func (t *task) expect() solution {
	r, newton, start := t.begin()
	if !finite(start) {
		return t.read(r, start, ending{reason: "not_finite"})
	}
	var out expectation.Outcome
	before := make([]int32, len(t.unlabeled))
	problem := expectation.Problem{Risk: r, Newton: newton, Prior: t.prior, Tol: t.options.Tol,
		MaxSteps: t.options.MaxIter, Stopped: t.job.Stopped, Warm: t.start != nil}
	if t.options.Method == "posterior" {
		posterior := expectation.NewPosterior(t.job, t.unlabeled, t.unlabeledWeight, t.prior, r.Stride())
		posterior.Weight = t.options.KLWeight
		t.join(r, posterior)
		problem.Note = func(level float64) { t.noteMeans(r, level, posterior.Value, posterior.M, before) }
		out = expectation.Project(problem, posterior)
		t.soft = posterior.Labels
	} else {
		means := expectation.NewMeans(t.job, t.unlabeled, t.unlabeledWeight, t.classes, r.Stride())
		means.Hold = t.hold()
		t.join(r, means)
		entropy := 0.0
		if t.options.Method == "entropy" {
			entropy = t.options.UnlabeledWeight
		}
		problem.Note = func(level float64) {
			t.noteMeans(r, level, entropy*means.MeanEntropy+t.penalty(means), means.M, before)
		}
		out = expectation.Regularize(problem, means, entropy)
		t.soft = make([]float64, len(t.unlabeled)*t.classes)
		means.Probabilities(t.soft, r.Scores())
	}
	t.checkExpectation(out)
	return t.read(r, out.Outcome, ending{reason: out.Reason, steps: out.Steps})
}

// hold is how the class prior is held.
func (t *task) hold() expectation.Hold {
	if t.options.penalized() {
		return &expectation.Penalty{Prior: t.prior, Weight: t.options.PenaltyWeight}
	}
	return expectation.Equality(t.prior)
}

// penalty is the part of the objective that holds the prior: none where it is a constraint.
func (t *task) penalty(means *expectation.Means) float64 {
	if t.options.penalized() {
		return means.Value
	}
	return 0
}

// join gives the unlabeled rows a joint cost.
func (t *task) join(r *risk.Risk, joint risk.Joint) {
	for k, i := range t.unlabeled {
		r.Label[i], r.Cost[i] = risk.Jointly, t.unlabeledWeight[k]
	}
	r.Joint = joint
	r.Recost()
	t.noteSupervised(r)
}

// noteMeans adds an outer step to the history: belief is the unlabeled rows' part of the objective; before has the
// likeliest classes of the step before.
func (t *task) noteMeans(r *risk.Risk, level, belief float64, means []float64, before []int32) {
	t.believed = r.Regularizer() + t.labeledLoss(r.Loss(), r.Score) + belief
	switched, entropy, row := 0, 0.0, make([]float64, t.classes)
	for k, i := range t.unlabeled {
		r.Score(row, i)
		y := int32(vector.Largest(row))
		if y != before[k] {
			switched++
		}
		before[k] = y
		entropy += t.unlabeledWeight[k] * expectation.Entropy(row)
	}
	t.record(t.believed, level, switched, expectation.Residual(means, t.prior), entropy/math.Ln2)
}

// checkExpectation warns where the class prior is not met, or the last solve did not come to its end.
func (t *task) checkExpectation(out expectation.Outcome) {
	switch {
	case out.Reason == "constraint":
		advice := "check class_prior, or set constraint to \"penalty\""
		if !t.options.FitIntercept {
			advice = "turn fit_intercept on, " + advice
		}
		t.warn("convergence", "the mean probabilities of the unlabeled rows stay %.2g away from class_prior (%.2g is asked "+
			"for): these rows may not allow it. To go on, %s", out.Residual, expectation.Tolerance, advice)
	case out.Reason == "max_iter" && !t.options.penalized() && t.options.Method != "posterior":
		t.warn("convergence", "max_iter = %d was reached with the mean probabilities of the unlabeled rows %.2g away from "+
			"class_prior: raise max_iter", t.options.MaxIter, out.Residual)
	case out.Reason == "max_iter":
		t.warn("convergence", "max_iter = %d was reached before the solve had ended: raise max_iter", t.options.MaxIter)
	case out.Reason == "not_converged":
		t.warn("convergence", "the last solve ended at a gradient as at a relative distance of %.2g from an optimum, above "+
			"tol = %.2g, and more steps would not help: raise tol or alpha", relativeGap(out.Outcome), t.options.Tol)
	}
}

func relativeGap(o minimize.Outcome) float64 { return o.Gap / math.Abs(o.Value) }
