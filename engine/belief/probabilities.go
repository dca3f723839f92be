package belief

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Tolerance is the residual at which the class prior counts as held.
const Tolerance = 1e-4

// probabilities are the belief of methods with a joint cost of the unlabeled rows' probabilities.
type probabilities struct {
	*risk.Risk
	objective *objective.Objective
	joint     joint
	layout    *layout // of joint, which finds the mean probabilities
	weak      *Weak   // joint where rows are weakly labeled, or nil
	Residual  float64 // largest distance of a mean probability from its share
	likeliest []int32 // [unlabeled] classes
}

// join gives the unlabeled rows, once admitted, a joint cost, and weakly labeled rows their loss at this weight.
func join(r *risk.Risk, o *objective.Objective, cost joint, at *layout, level float64) probabilities {
	weak := newWeak(o.Job, cost, o.Sample, level, r.Stride)
	if weak != nil {
		cost = weak
	}
	for _, i := range o.Sample.Unlabeled {
		r.Label[i] = risk.LabelJoint
	}
	r.Joint = cost
	return probabilities{Risk: r, objective: o, joint: cost, layout: at, weak: weak,
		likeliest: make([]int32, len(o.Sample.Unlabeled))}
}

// Relabel finds means, by the joint cost, and their residual, and counts the likeliest classes that have changed.
func (p *probabilities) Relabel() (switched int, entropy float64) {
	p.joint.Evaluate(p.Scores, nil)
	s, row, q := p.objective.Sample, make([]float64, p.objective.Classes), make([]float64, p.objective.Classes)
	p.Residual = p.objective.Distance(p.layout.M)
	for k, i := range s.Unlabeled {
		p.Score(row, i)
		subtract(row, s.Weak.Of(k))
		if y := int32(vector.Largest(row)); y != p.likeliest[k] {
			p.likeliest[k] = y
			switched++
		}
		entropy += s.UnlabeledWeight[k] * (vector.Softmax(q, row) - vector.Dot(q, row)) // in nats
	}
	return switched, entropy / math.Ln2
}

// measure is the objective with this cost of the unlabeled rows, and the residual.
func (p *probabilities) measure(unlabeled float64) (value, residual float64) {
	loss := []float64{p.objective.LabeledLoss(p.Loss, p.Score)}
	p.objective.Job.Reduce(loss)
	if p.weak != nil {
		unlabeled += p.weak.Known
	}
	return p.Regularizer() + loss[0] + unlabeled, p.Residual
}

// Expected is the belief of methods that hold the mean probabilities at the class prior.
type Expected struct {
	probabilities
	Means *Means
	Full  float64 // weight of the entropy at level 1
	last  float64 // residual of the round before, at level 1
}

// NewExpected gives the unlabeled rows of a risk the cost of their means and of their entropy.
func NewExpected(r *risk.Risk, o *objective.Objective, entropy float64) *Expected {
	means := NewMeans(o.Job, o.Sample.Unlabeled, o.Sample.UnlabeledWeight, o.Classes, r.Stride)
	means.Constraint, means.Convex = Equality(o.Prior), true
	return &Expected{probabilities: join(r, o, means, &means.layout, entropy), Means: means, Full: entropy, last: 1}
}

func (e *Expected) Enter(level float64) { e.Means.Entropy = level * e.Full }

// Relabel renews the multipliers by the means; at level 1 the penalty is raised where the residual has not fallen.
func (e *Expected) Relabel() (switched int, entropy float64) {
	switched, entropy = e.probabilities.Relabel()
	e.Means.Constraint.Update(e.Means.M)
	if e.Means.Entropy == e.Full { // level 1
		if e.Residual > max(Tolerance, e.last/fall) {
			e.Means.Constraint.Weight *= stiffen
		}
		e.last = e.Residual
	}
	return switched, entropy
}

// Measure is the objective without the constraint's term, and the residual.
func (e *Expected) Measure() (value, residual float64) {
	return e.measure(e.Full * e.Means.MeanEntropy)
}

// Probabilities are those of the classes [unlabeled, K].
func (e *Expected) Probabilities() []float64 {
	p, scores := make([]float64, len(e.likeliest)*e.objective.Classes), e.Scores
	if e.weak != nil {
		scores = e.weak.shift(scores)
	}
	e.Means.each(func(k int) { vector.Softmax(e.Means.place(p, k), e.Means.row(scores, k)) })
	return p
}

// Projected is the belief of posterior regularization.
type Projected struct {
	probabilities
	Posterior *Posterior
}

// NewProjected gives the unlabeled rows of a risk the distance of their probabilities from labels that keep the prior.
func NewProjected(r *risk.Risk, o *objective.Objective, weight float64) *Projected {
	posterior := NewPosterior(o.Job, o.Sample.Unlabeled, o.Sample.UnlabeledWeight, o.Prior, r.Stride)
	posterior.Weight = weight
	return &Projected{probabilities: join(r, o, posterior, &posterior.layout, weight), Posterior: posterior}
}

// Enter has nothing to do: the weight does not change.
func (p *Projected) Enter(float64) {}

func (p *Projected) Measure() (value, residual float64) { return p.measure(p.Posterior.Value) }

// joint is a cost of the unlabeled rows' class scores that can be evaluated without its gradient.
type joint interface {
	risk.Joint
	// Evaluate is the cost; it puts the probabilities into state, if that is not nil.
	Evaluate(scores, state []float64) (value float64)
}
