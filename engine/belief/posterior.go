package belief

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Posterior is the cost of the unlabeled rows in posterior regularization; it implements risk.Joint.
//
//	Problem  Ψ(s) = C min over q  Σ_j u_j Σ_y q_jy log(q_jy / p_jy)  subject to Σ_j u_j q_jy = φ_y
//	Symbols  as in Means; q_j labels [K] that keep the class prior φ, proportional to p_jy exp(v_y); v multipliers
//	Source   Keerthi, Sundararajan & Shevade 2012, section 4.3 (Graça, Ganchev & Taskar 2007). They alternate solves
//	         for q and w; here q is a function of w: at the best q the gradient is C u_j (p_j - q_j)
//	Cost     a gradient, or a step length: soft labels, from the last potentials
type Posterior struct {
	Weight float64   // C
	Labels []float64 // [rows, K] q at the last Gradient or Evaluate
	Value  float64   // Ψ there

	layout
	prior        []float64
	costs, trial []float64 // [rows, K]
	potentials   []float64
}

// NewPosterior is the cost of rows whose weights sum to 1; stride is the length of a row of scores.
func NewPosterior(job *work.Job, rows []int32, weights, prior []float64, stride int) *Posterior {
	classes, n := len(prior), len(rows)*len(prior)
	return &Posterior{layout: layout{job: job, rows: rows, weights: weights, classes: classes, stride: stride},
		prior: prior, Labels: make([]float64, n), costs: make([]float64, n), trial: make([]float64, n),
		potentials: make([]float64, classes)}
}

// label sets q to the best labels for scores + t changes.
func (e *Posterior) label(q, scores, changes []float64, t float64) {
	e.each(func(k int) {
		floats.AddScaledTo(e.place(e.costs, k), e.row(scores, k), t, e.row(changes, k))
		vector.Scale(e.place(e.costs, k), -1)
	})
	labeling.SoftLabels(e.job, q, e.costs, e.weights, e.prior, e.potentials, 1, labeling.Exact)
}

// Evaluate implements joint; it finds labels and means.
func (e *Posterior) Evaluate(scores, state []float64) (value float64) {
	e.label(e.Labels, scores, scores, 0)
	e.Value = e.Weight * e.average(scores, state, func(k int, _ []float64, logSum float64) float64 {
		return divergence(e.place(e.Labels, k), e.place(e.costs, k), logSum)
	})
	return e.Value
}

// Gradient implements risk.Joint; state is p.
func (e *Posterior) Gradient(scores, slope, state []float64) (value float64) {
	value = e.Evaluate(scores, state)
	e.each(func(k int) {
		dst := floats.SubTo(e.row(slope, k), e.row(state, k), e.place(e.Labels, k))
		vector.Scale(dst, e.Weight*e.weights[k])
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
func (e *Posterior) HessVec(changes, _, state []float64) {
	e.each(func(k int) {
		change := e.row(changes, k)
		turn(change, change, e.row(state, k), e.Weight*e.weights[k])
	})
}

// Line implements risk.Joint: value and slope of Ψ itself, the curvature at labels held fixed.
func (e *Posterior) Line(scores, changes []float64, t float64) (value, slope, curvature float64) {
	e.label(e.trial, scores, changes, t)
	var sums [3]float64
	e.sum(sums[:], func(k int, part, scratch []float64) {
		p, q, change := scratch[:e.classes], e.place(e.trial, k), e.row(changes, k)
		floats.AddScaledTo(p, e.row(scores, k), t, change)
		part[0] += e.weights[k] * divergence(q, e.place(e.costs, k), vector.Softmax(p, p))
		addSlopes(part[1:], e.weights[k], p, q, change)
	})
	return e.Weight * sums[0], e.Weight * sums[1], e.Weight * sums[2]
}

// addSlopes adds both derivatives of weight (log Σ_y exp s_y - q . s) along a change of s; p is the softmax of s.
func addSlopes(part []float64, weight float64, p, q, change []float64) {
	mean := vector.Dot(p, change)
	part[0] += weight * (mean - vector.Dot(q, change))
	for y, v := range p {
		part[1] += weight * v * (change[y] - mean) * (change[y] - mean)
	}
}
