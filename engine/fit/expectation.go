package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/expectation"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/minimize"
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
	p := &byMeans{task: t, risk: r, before: make([]int32, len(t.Unlabeled)), problem: expectation.Problem{Risk: r,
		Newton: newton, Prior: t.prior, Tol: t.Options.Tol, MaxSteps: t.Options.MaxIter, Stopped: t.Job.Stopped,
		Warm: t.start != nil}}
	var out expectation.Outcome
	if t.method.Belief == method.Labels {
		out = p.project()
	} else {
		out = p.regularize()
	}
	p.check(out)
	return t.read(r, out.Outcome, stop{reason: out.Reason, steps: out.Steps})
}

// byMeans is a task whose unlabeled rows have a joint cost.
type byMeans struct {
	*task
	risk    *risk.Risk
	problem expectation.Problem
	before  []int32 // [unlabeled] likeliest classes of the step before
}

// project is posterior regularization.
func (p *byMeans) project() expectation.Outcome {
	posterior := expectation.NewPosterior(p.Job, p.Unlabeled, p.UnlabeledWeight, p.prior, p.risk.Stride())
	posterior.Weight = p.Options.KLWeight
	p.join(posterior)
	p.problem.Note = func(level float64) { p.record(level, posterior.Value, posterior.M) }
	out := expectation.Project(p.problem, posterior)
	p.soft = posterior.Labels
	return out
}

// regularize is expectation regularization, with the entropy for the method of that name.
func (p *byMeans) regularize() expectation.Outcome {
	means := expectation.NewMeans(p.Job, p.Unlabeled, p.UnlabeledWeight, p.classes, p.risk.Stride())
	means.Constraint = expectation.Equality(p.prior)
	if p.Options.Penalized() {
		means.Constraint = &expectation.Penalty{Prior: p.prior, Weight: p.Options.PenaltyWeight}
	}
	p.join(means)
	entropy := 0.0
	if p.method.Entropy {
		entropy = p.Options.UnlabeledWeight
	}
	p.problem.Note = func(level float64) {
		value := entropy * means.MeanEntropy
		if p.Options.Penalized() { // a constraint is no part of the objective
			value += means.Value
		}
		p.record(level, value, means.M)
	}
	out := expectation.Regularize(p.problem, means, entropy)
	p.soft = make([]float64, len(p.Unlabeled)*p.classes)
	means.Probabilities(p.soft, p.risk.Scores())
	return out
}

// join gives the unlabeled rows a joint cost.
func (p *byMeans) join(joint risk.Joint) {
	for k, i := range p.Unlabeled {
		p.risk.Label[i], p.risk.Cost[i] = risk.LabelJoint, p.UnlabeledWeight[k]
	}
	p.risk.Joint = []risk.Joint{joint}
	p.risk.UpdateSupport()
	p.noteFirst(p.risk.Score)
}

// record adds an outer step to the history: belief is the unlabeled rows' part of the objective.
func (p *byMeans) record(level, belief float64, means []float64) {
	var sums [3]float64 // labels switched, entropy, labeled loss
	row := make([]float64, p.classes)
	for k, i := range p.Unlabeled {
		p.risk.Score(row, i)
		y := int32(vector.Largest(row))
		if y != p.before[k] {
			sums[0]++
		}
		p.before[k] = y
		sums[1] += p.UnlabeledWeight[k] * expectation.Entropy(row)
	}
	sums[2] = p.labeledLoss(p.risk.Loss(), p.risk.Score)
	p.Job.Reduce(sums[:])
	p.believed = p.risk.Regularizer() + sums[2] + belief
	p.trace.Record(p.believed, level, int(sums[0]), expectation.Residual(means, p.prior), sums[1]/math.Ln2)
}

// check warns where the class prior is not met, or the last solve did not come to its end.
func (p *byMeans) check(out expectation.Outcome) {
	switch {
	case out.Reason == ending.Constraint:
		p.trace.Warn(warning.Constraint, out.Residual, expectation.Tolerance)
	case out.Reason == ending.MaxIter && !p.Options.Penalized() && p.method.Belief == method.Means:
		p.trace.Warn(warning.MaxIterResidual, float64(p.Options.MaxIter), out.Residual)
	case out.Reason == ending.MaxIter:
		p.trace.Warn(warning.MaxIter, float64(p.Options.MaxIter))
	case out.Reason == ending.NotConverged:
		p.trace.Warn(warning.NotConverged, relativeGap(out.Outcome), p.Options.Tol)
	}
}

func relativeGap(o minimize.Outcome) float64 { return o.Gap / math.Abs(o.Value) }
