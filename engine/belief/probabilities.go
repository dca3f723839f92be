package belief

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Tolerance is the residual at which the class prior counts as held.
const Tolerance = 1e-4

// probabilities are the belief of methods with a joint cost of the unlabeled rows' probabilities.
type probabilities struct {
	*risk.Risk
	objective *objective.Objective
	joint     joint
	weak      *Weak   // joint where rows are weakly labeled, or nil
	Residual  float64 // largest distance of a mean probability from its share
	likeliest []int32 // [unlabeled] classes
}

// join gives the unlabeled rows of a risk a joint cost, and weakly labeled rows their loss at this weight.
func join(r *risk.Risk, o *objective.Objective, cost joint, level float64) probabilities {
	weak := newWeak(o.Job, cost, o.Sample, level, r.Stride())
	if weak != nil {
		cost = weak
	}
	for k, i := range o.Sample.Unlabeled {
		r.Label[i], r.Cost[i] = risk.LabelJoint, o.Sample.UnlabeledWeight[k]
	}
	r.Joint = []risk.Joint{cost}
	r.UpdateSupport()
	return probabilities{Risk: r, objective: o, joint: cost, weak: weak,
		likeliest: make([]int32, len(o.Sample.Unlabeled))}
}

// renew counts the likeliest classes that have changed, and measures the residual of means.
func (p *probabilities) renew(means []float64) (switched int, entropy float64) {
	s, row, q := p.objective.Sample, make([]float64, p.objective.Classes), make([]float64, p.objective.Classes)
	p.Residual = p.objective.Distance(means)
	for k, i := range s.Unlabeled {
		p.Score(row, i)
		if p.weak != nil {
			p.weak.subtract(row, k)
		}
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
	loss := []float64{p.objective.LabeledLoss(p.Loss(), p.Score)}
	p.objective.Job.Reduce(loss)
	if p.weak != nil {
		unlabeled += p.weak.Known
	}
	return p.Regularizer() + loss[0] + unlabeled, p.Residual
}

// Expected is the belief of methods that hold the mean probabilities at the class prior.
type Expected struct {
	probabilities
	Means       *Means
	Multipliers *Multipliers
	Full        float64 // weight of the entropy at level 1
	level       float64
	last        float64 // residual of the round before, at level 1
}

// NewExpected gives unlabeled rows the cost of their means, held at the class prior, and of their entropy.
func NewExpected(r *risk.Risk, o *objective.Objective, entropy float64) *Expected {
	means := NewMeans(o.Job, o.Sample.Unlabeled, o.Sample.UnlabeledWeight, o.Classes, r.Stride())
	means.Constraint, means.Convex = Equality(o.Prior), true
	return &Expected{probabilities: join(r, o, means, entropy), Means: means, Multipliers: means.Constraint, Full: entropy,
		last: 1}
}

func (e *Expected) Enter(level float64) {
	e.level = level
	e.Means.Entropy = level * e.Full
}

// Relabel renews the multipliers by the means; at level 1 the penalty is raised where the residual has not fallen.
func (e *Expected) Relabel() (switched int, entropy float64) {
	e.joint.Evaluate(e.Scores())
	switched, entropy = e.renew(e.Means.M)
	e.Multipliers.Update(e.Means.M)
	if e.level == 1 {
		if e.Residual > max(Tolerance, e.last/fall) {
			e.Multipliers.Weight *= stiffen
		}
		e.last = e.Residual
	}
	return switched, entropy
}

func (e *Expected) Held() bool { return e.Residual <= Tolerance }

// Measure is the objective without the constraint's term, and the residual.
func (e *Expected) Measure() (value, residual float64) {
	return e.measure(e.Full * e.Means.MeanEntropy)
}

// Probabilities are those of the classes [unlabeled, K].
func (e *Expected) Probabilities() []float64 {
	p, scores := make([]float64, len(e.likeliest)*e.objective.Classes), e.Scores()
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
	posterior := NewPosterior(o.Job, o.Sample.Unlabeled, o.Sample.UnlabeledWeight, o.Prior, r.Stride())
	posterior.Weight = weight
	return &Projected{probabilities: join(r, o, posterior, weight), Posterior: posterior}
}

// Enter has nothing to do: the weight does not change.
func (p *Projected) Enter(float64) {}

// Relabel finds the best labels at the current scores, with their multipliers.
func (p *Projected) Relabel() (switched int, entropy float64) {
	p.joint.Evaluate(p.Scores())
	return p.renew(p.Posterior.M)
}

func (p *Projected) Measure() (value, residual float64) { return p.measure(p.Posterior.Value) }

// Posterior is the cost of the unlabeled rows in posterior regularization; it implements risk.Joint.
//
//	Problem  Ψ(s) = C min over q  Σ_j u_j Σ_y q_jy log(q_jy / p_jy)  subject to Σ_j u_j q_jy = φ_y
//	Symbols  as in Means; q_j labels [K] that keep the class prior φ; v multipliers of the constraint: q_jy is
//	         proportional to p_jy exp(v_y)
//	Source   Keerthi, Sundararajan & Shevade 2012, section 4.3 (Graça, Ganchev & Taskar 2007). They alternate solves
//	         for q and w; here q is a function of w: at the best q the gradient is C u_j (p_j - q_j)
//	Cost     a gradient, or a step length: soft labels, from the last potentials
type Posterior struct {
	Weight float64   // C
	Labels []float64 // [rows, K] q at the last Gradient or Evaluate
	M      []float64 // [K] means of p there
	Value  float64   // Ψ there

	layout
	prior        []float64
	costs, trial []float64 // [rows, K]
	potentials   []float64
}

// NewPosterior is the cost of rows whose weights sum to 1; stride is the length of a row of scores.
func NewPosterior(job *work.Job, rows []int32, weights, prior []float64, stride int) *Posterior {
	e := &Posterior{layout: layout{job, rows, weights, len(prior), stride}, prior: prior}
	for _, v := range []*[]float64{&e.Labels, &e.costs, &e.trial} {
		*v = make([]float64, len(rows)*len(prior))
	}
	e.M, e.potentials = make([]float64, len(prior)), make([]float64, len(prior))
	return e
}

// label sets q to the best labels for scores + t changes.
func (e *Posterior) label(q, scores, changes []float64, t float64) {
	e.each(func(k int) {
		costs := e.place(e.costs, k)
		for y, s := range e.row(scores, k) {
			costs[y] = -s
		}
		if t != 0 {
			vector.Add(costs, -t, e.row(changes, k))
		}
	})
	labeling.SoftLabels(e.job, q, e.costs, e.weights, e.prior, 1, e.potentials, labeling.Exact)
}

// Evaluate finds labels and means at these scores, and returns the cost.
func (e *Posterior) Evaluate(scores []float64) (value float64) {
	e.label(e.Labels, scores, nil, 0)
	sums := make([]float64, 1+e.classes) // of the divergence and p
	e.sum(sums, func(k int, part, scratch []float64) {
		p := scratch[:e.classes]
		logSum := vector.Softmax(p, e.row(scores, k))
		part[0] += e.weights[k] * divergence(e.place(e.Labels, k), e.place(e.costs, k), logSum)
		vector.Add(part[1:], e.weights[k], p)
	})
	copy(e.M, sums[1:])
	e.Value = e.Weight * sums[0]
	return e.Value
}

// Gradient implements risk.Joint; state is p.
func (e *Posterior) Gradient(scores, slope, state []float64) (value float64) {
	value = e.Evaluate(scores)
	e.each(func(k int) {
		p, q, dst := e.row(state, k), e.place(e.Labels, k), e.row(slope, k)
		vector.Softmax(p, e.row(scores, k))
		for y := range dst {
			dst[y] = e.Weight * e.weights[k] * (p[y] - q[y])
		}
	})
	return value
}

// divergence is Σ_y q_y log(q_y / p_y) with log p_y = -cost_y - logSum.
func divergence(q, costs []float64, logSum float64) float64 {
	sum := logSum + vector.Dot(q, costs)
	for _, v := range q {
		if v > 0 {
			sum += v * math.Log(v)
		}
	}
	return sum
}

// HessVec implements risk.Joint: the curvature at labels held fixed, an upper bound.
func (e *Posterior) HessVec(changes, _, state []float64) (curvature float64) {
	var sum [1]float64
	e.sum(sum[:], func(k int, part, _ []float64) {
		p, change := e.row(state, k), e.row(changes, k)
		mean := vector.Dot(p, change)
		for y, q := range p {
			product := e.Weight * e.weights[k] * q * (change[y] - mean)
			part[0] += product * change[y]
			change[y] = product
		}
	})
	return sum[0]
}

// Line implements risk.Joint: value and slope of Ψ itself, the curvature at labels held fixed.
func (e *Posterior) Line(scores, changes []float64, t float64) (value, slope, curvature float64) {
	e.label(e.trial, scores, changes, t)
	var sums [3]float64
	e.sum(sums[:], func(k int, part, scratch []float64) {
		p, q, change := scratch[:e.classes], e.place(e.trial, k), e.row(changes, k)
		copy(p, e.row(scores, k))
		vector.Add(p, t, change)
		logSum := vector.Softmax(p, p)
		mean := vector.Dot(p, change)
		part[0] += e.weights[k] * divergence(q, e.place(e.costs, k), logSum)
		part[1] += e.weights[k] * (mean - vector.Dot(q, change))
		for y, v := range p {
			part[2] += e.weights[k] * v * (change[y] - mean) * (change[y] - mean)
		}
	})
	return e.Weight * sums[0], e.Weight * sums[1], e.Weight * sums[2]
}

// joint is a cost of the unlabeled rows' class scores that can be evaluated without its gradient.
type joint interface {
	risk.Joint
	Evaluate(scores []float64) (value float64)
}

// Weak adds the loss of weak labels to another cost.
//
//	Problem  Ψ(s - κ) - Σ_j v_j log Σ_y p_jy exp(-κ_jy)
//	Symbols  Ψ the other cost; s_j class scores [K], p_j their softmax; κ prior costs, see package weak; v_j weight of
//	         unlabeled row j. Ψ has the probabilities given both, proportional to p_jy exp(-κ_jy); the second term is
//	         minus the logarithm of the probability of a set of classes
//	Source   ours; of posterior regularization Ψ(s - κ) with v_j = C u_j is the divergence from labels that cost κ
//	Cost     Ψ, an exp a row and class, and three arrays of the scores' length
//
// The curvature is taken at a fixed p_jy exp(-κ_jy), an upper bound, as in Posterior.
type Weak struct {
	joint
	layout         // weights v: 0 for rows that are not weakly labeled
	Known  float64 // the second term at the last Evaluate

	sample  *sample.Sample
	p       []float64 // [Unlabeled, K] at the last Gradient
	shifted []float64 // [n, stride] s - κ
	before  []float64 // [Unlabeled, K] changes
}

// forbidden is a prior cost at which a probability is 0 in sums.
const forbidden = 1e9

// newWeak is nil where no row is weakly labeled; level is the weight of the unlabeled rows.
func newWeak(job *work.Job, cost joint, s *sample.Sample, level float64, stride int) *Weak {
	if s.Weak == nil {
		return nil
	}
	n := len(s.Unlabeled) * s.Classes()
	w := &Weak{joint: cost, sample: s, p: make([]float64, n), shifted: make([]float64, s.Rows.Rows()*stride),
		before: make([]float64, n),
		layout: layout{job, s.Unlabeled, make([]float64, len(s.Unlabeled)), s.Classes(), stride}}
	for k := range s.Unlabeled {
		if s.Weak.Of(k).Known() {
			w.weights[k] = level * s.UnlabeledWeight[k]
		}
	}
	return w
}

// subtract subtracts κ, made finite, from the scores [K] of a row.
func (w *Weak) subtract(scores []float64, k int) {
	if row := w.sample.Weak.Of(k); row.Known() {
		for y := range scores {
			scores[y] -= min(row.Of(int32(y)), forbidden)
		}
	}
}

// shift sets s - κ.
func (w *Weak) shift(scores []float64) []float64 {
	w.each(func(k int) {
		shifted := w.row(w.shifted, k)
		copy(shifted, w.row(scores, k))
		w.subtract(shifted, k)
	})
	return w.shifted
}

func (w *Weak) Evaluate(scores []float64) (value float64) {
	value = w.joint.Evaluate(w.shift(scores))
	w.Known = w.loss(scores, nil, 0)[0]
	return value + w.Known
}

func (w *Weak) Gradient(scores, slope, state []float64) (value float64) {
	value = w.joint.Gradient(w.shift(scores), slope, state)
	w.each(func(k int) {
		p, given := w.place(w.p, k), make([]float64, w.classes)
		vector.Softmax(p, w.row(scores, k))
		vector.Softmax(given, w.row(w.shifted, k))
		vector.Add(w.row(slope, k), w.weights[k], p)
		vector.Add(w.row(slope, k), -w.weights[k], given)
	})
	return value + w.loss(scores, nil, 0)[0]
}

func (w *Weak) HessVec(changes, slope, state []float64) (curvature float64) {
	w.each(func(k int) { copy(w.place(w.before, k), w.row(changes, k)) })
	curvature = w.joint.HessVec(changes, slope, state)
	sum := []float64{0}
	w.sum(sum, func(k int, part, _ []float64) {
		p, change, product := w.place(w.p, k), w.place(w.before, k), w.row(changes, k)
		mean := vector.Dot(p, change)
		for y, q := range p {
			add := w.weights[k] * q * (change[y] - mean)
			part[0] += add * change[y]
			product[y] += add
		}
	})
	return curvature + sum[0]
}

func (w *Weak) Line(scores, changes []float64, t float64) (value, slope, curvature float64) {
	value, slope, curvature = w.joint.Line(w.shift(scores), changes, t)
	sums := w.loss(scores, changes, t)
	return value + sums[0], slope + sums[1], curvature + sums[2]
}

// loss is -Σ v log Σ_y p_y exp(-κ_y) at scores + t changes, with its derivatives along them; nil: none.
func (w *Weak) loss(scores, changes []float64, t float64) (sums []float64) {
	sums = make([]float64, 3)
	w.sum(sums, func(k int, part, scratch []float64) {
		p, given := scratch[:w.classes], scratch[w.classes:]
		copy(p, w.row(scores, k))
		if changes != nil {
			vector.Add(p, t, w.row(changes, k))
		}
		copy(given, p)
		w.subtract(given, k)
		part[0] += w.weights[k] * (vector.Softmax(p, p) - vector.Softmax(given, given))
		if changes == nil {
			return
		}
		change := w.row(changes, k)
		mean := vector.Dot(p, change)
		part[1] += w.weights[k] * (mean - vector.Dot(given, change))
		for y, q := range p {
			part[2] += w.weights[k] * q * (change[y] - mean) * (change[y] - mean)
		}
	})
	return sums
}
