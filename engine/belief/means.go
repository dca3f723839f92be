package belief

import (
	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Means is the cost of the unlabeled rows' probabilities; it implements risk.Joint.
//
//	Problem  Ψ(s) = C Σ_j u_j H(p_j) + G(m)
//	Symbols  j unlabeled rows; s_j class scores [K]; p_j their softmax; u_j weights, which sum to 1; H(p) = -Σ_y p_y
//	         log p_y, in nats; m = Σ_j u_j p_j means [K]; C weight of the entropy; G holds the means near the prior;
//	         a_jy = -C log p_jy + ∂G/∂m_y what a change of p_jy costs
//	Source   Keerthi, Sundararajan & Shevade 2012, sections 4.1 and 4.2 (entropy: Grandvalet & Bengio 2005;
//	         expectations: Mann & McCallum 2007)
//	Cost     an exp a row and class for gradient and line; two walks over the scores for a HessVec
//
// The gradient with respect to s_j is u_j p_j (a_j - p_j . a_j), class by class. The second derivative is indefinite.
type Means struct {
	Entropy    float64 // C
	Constraint *Multipliers
	// Convex makes HessVec positive: the entropy's as at fixed labels, C (diag p_j - p_j p_jᵀ), Gauss-Newton for G.
	Convex bool

	MeanEntropy float64 // Σ u H at the last Gradient or Evaluate

	layout
	slope, curve []float64 // [K] of G at M
}

// NewMeans is the cost of rows whose weights sum to 1; stride is the length of a row of scores.
func NewMeans(job *work.Job, rows []int32, weights []float64, classes, stride int) *Means {
	return &Means{layout: layout{job: job, rows: rows, weights: weights, classes: classes, stride: stride},
		slope: make([]float64, classes), curve: make([]float64, classes)}
}

// Evaluate implements joint; it finds means and entropy.
func (m *Means) Evaluate(scores, state []float64) (value float64) {
	m.MeanEntropy = m.average(scores, state, func(k int, p []float64, logSum float64) float64 {
		return logSum - vector.Dot(p, m.row(scores, k))
	})
	return m.Entropy*m.MeanEntropy + m.Constraint.At(m.M, m.slope, m.curve)
}

// Gradient implements risk.Joint; state is p.
func (m *Means) Gradient(scores, slope, state []float64) (value float64) {
	value = m.Evaluate(scores, state)
	m.each(func(k int) { // weight p (a - p . a); -log p is the negated score, up to a constant
		dst, p, s, mean := m.row(slope, k), m.row(state, k), m.row(scores, k), 0.0
		for y, q := range p {
			dst[y] = m.slope[y] - m.Entropy*s[y]
			mean += q * dst[y]
		}
		for y, q := range p {
			dst[y] = m.weights[k] * q * (dst[y] - mean)
		}
	})
	return value
}

// HessVec implements risk.Joint. With δ̄_j = p_j . δs_j, p changes by p (δs - δ̄), and a by -C (δs - δ̄) + G” δm.
func (m *Means) HessVec(changes, slope, state []float64) {
	moved := make([]float64, m.classes) // δm, then G'' δm
	m.sum(moved, func(k int, part, scratch []float64) {
		turn(scratch[:m.classes], m.row(changes, k), m.row(state, k), m.weights[k])
		vector.Add(part, 1, scratch)
	})
	floats.Mul(moved, m.curve)
	m.each(func(k int) {
		m.rowHessVec(m.row(changes, k), m.row(state, k), m.row(slope, k), moved, m.weights[k])
	})
}

// rowHessVec replaces a change by the second derivative times it, or its convex part; slope = weight p (a - p . a).
func (m *Means) rowHessVec(change, p, slope, moved []float64, weight float64) {
	mean, lifted := vector.Dot(p, change), vector.Dot(p, moved)
	if m.Convex {
		for y, q := range p {
			change[y] = weight * q * (moved[y] - lifted + m.Entropy*(change[y]-mean))
		}
		return
	}
	inner := 0.0
	for y, g := range slope {
		inner += g * (change[y] - mean)
	}
	for y, q := range p {
		off := change[y] - mean
		change[y] = slope[y]*off - q*inner + weight*q*(moved[y]-lifted-m.Entropy*off)
	}
}

// Line implements risk.Joint: exact second derivatives.
func (m *Means) Line(scores, changes []float64, t float64) (value, slope, curvature float64) {
	classes := m.classes
	sums := make([]float64, 3+3*classes) // Σ u H and its derivatives; m and its derivatives
	m.sum(sums, func(k int, part, scratch []float64) {
		p, s, change := scratch[:classes], scratch[classes:], m.row(changes, k)
		floats.AddScaledTo(s, m.row(scores, k), t, change)
		logSum := vector.Softmax(p, s)
		rowLine(part, p, s, change, logSum, m.weights[k])
	})
	means := sums[3 : 3+classes]
	first, second := make([]float64, classes), make([]float64, classes)
	value = m.Entropy*sums[0] + m.Constraint.At(means, first, second)
	slope, curvature = m.Entropy*sums[1], m.Entropy*sums[2]
	for y := range classes {
		turned, product := sums[3+classes+y], sums[3+2*classes+y]
		slope += first[y] * turned
		curvature += first[y]*product + second[y]*turned*turned
	}
	return value, slope, curvature
}

// rowLine adds a row's part of the sums of Line. The derivatives of p are p' = p (δ - δ̄) and p” = p ((δ - δ̄)² -
// variance of δ); with log p = s - logSum the derivatives of H are -Σ p' log p and -Σ p” log p - Σ p' (δ - δ̄).
func rowLine(part, p, s, change []float64, logSum, weight float64) {
	mean, classes := vector.Dot(p, change), len(p)
	part[0] += weight * (logSum - vector.Dot(p, s))
	variance := 0.0
	for y, q := range p {
		variance += q * (change[y] - mean) * (change[y] - mean)
	}
	for y, q := range p {
		off := change[y] - mean
		turned, product := weight*q*off, weight*q*(off*off-variance)
		part[1] -= turned * (s[y] - logSum)
		part[2] -= product*(s[y]-logSum) + turned*off
		part[3+y] += weight * q
		part[3+classes+y] += turned
		part[3+2*classes+y] += product
	}
}

// layout is where scores of unlabeled rows stand: by row in vectors [n, stride], in order in [unlabeled, classes].
type layout struct {
	job     *work.Job
	rows    []int32   // unlabeled
	weights []float64 // [rows]
	classes int
	stride  int
	M       []float64 // [K] mean probabilities at the last average
}

// row is the part of a vector [n, stride] with the classes of unlabeled row k.
func (l *layout) row(v []float64, k int) []float64 {
	start := int(l.rows[k]) * l.stride
	return v[start : start+l.classes]
}

// place is the part of a vector [unlabeled, classes] of unlabeled row k.
func (l *layout) place(v []float64, k int) []float64 { return v[k*l.classes : (k+1)*l.classes] }

func (l *layout) each(do func(k int)) { l.job.Every(len(l.rows), do) }

// sum adds what do adds to part, over all unlabeled rows; scratch [classes] is written.
func (l *layout) sum(sums []float64, do func(k int, part, scratch []float64)) {
	l.job.SumRows(len(l.rows), 2*l.classes, sums, do)
}

// average finds the mean p and returns the mean of a cost by p and log Σ_y exp s_y; it puts p into state, if not nil.
func (l *layout) average(scores, state []float64, cost func(k int, p []float64, logSum float64) float64) float64 {
	sums := make([]float64, 1+l.classes)
	l.sum(sums, func(k int, part, scratch []float64) {
		p := scratch[:l.classes]
		if state != nil {
			p = l.row(state, k)
		}
		logSum := vector.Softmax(p, l.row(scores, k))
		part[0] += l.weights[k] * cost(k, p, logSum)
		vector.Add(part[1:], l.weights[k], p)
	})
	l.M = sums[1:]
	return sums[0]
}

// turn sets dst, which may be change, to weight (diag p - p pᵀ) change: how p turns with the scores.
func turn(dst, change, p []float64, weight float64) {
	mean := vector.Dot(p, change)
	for y, q := range p {
		dst[y] = weight * q * (change[y] - mean)
	}
}

// Multipliers hold the prior exactly, by an augmented Lagrangian.
//
//	Problem  G(m) = Σ_y λ_y (m_y - φ_y) + μ/2 Σ_y (m_y - φ_y)² / φ_y
//	Symbols  φ class prior; λ multipliers; μ weight of the penalty, relative to the share: small classes are held as well
//	         as large ones. Classes with the share 0 have no term
//	Source   Bertsekas & Tsitsiklis, as in Keerthi, Sundararajan & Shevade 2012, section 4
type Multipliers struct {
	Prior, Lambda []float64
	Weight        float64
}

const (
	firstWeight = 10.0 // μ of the augmented Lagrangian; 1 to 100 take about as many passes on 20 Newsgroups
	stiffen     = 2.0  // factor on μ where a round has not lowered the residual by the factor fall
	fall        = 4.0
)

func Equality(prior []float64) *Multipliers {
	return &Multipliers{Prior: prior, Lambda: make([]float64, len(prior)), Weight: firstWeight}
}

// At gives the value and, by each m_y, the first derivative in slope and the second, at least 0, in curve.
func (h *Multipliers) At(m, slope, curve []float64) (value float64) {
	for y, share := range h.Prior {
		slope[y], curve[y] = 0, 0
		if share == 0 {
			continue
		}
		off := m[y] - share
		curve[y] = h.Weight / share
		slope[y] = h.Lambda[y] + off*curve[y]
		value += off * (h.Lambda[y] + off*curve[y]/2)
	}
	return value
}

// Update raises the multipliers by the derivative of the penalty at these means.
func (h *Multipliers) Update(m []float64) {
	for y, share := range h.Prior {
		if share > 0 {
			h.Lambda[y] += h.Weight * (m[y] - share) / share
		}
	}
}
