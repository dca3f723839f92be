package belief

import (
	"math"

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
// The gradient with respect to s_j is u_j p_j (a_j - p_j . a_j), class by class. Both terms curve to both sides: the
// second derivative is not definite.
type Means struct {
	Entropy    float64 // C
	Constraint *Multipliers
	// Convex makes HessVec a model of the curvature that is positive: C (diag p_j - p_j p_jᵀ) in place of the entropy's,
	// which is what a solve for fixed labels has there; of G what does not vanish with its slope (Gauss-Newton).
	Convex bool

	M           []float64 // [K] means at the last Gradient or Evaluate
	MeanEntropy float64   // Σ u H there
	Value       float64   // of G there

	job     *work.Job
	rows    []int32
	weights []float64
	stride  int

	slope, curve []float64 // [K] of G at M
}

// NewMeans is the cost of some rows whose weights sum to 1; stride is the length of a row of scores.
func NewMeans(job *work.Job, rows []int32, weights []float64, classes, stride int) *Means {
	m := &Means{job: job, rows: rows, weights: weights, stride: stride}
	for _, v := range []*[]float64{&m.M, &m.slope, &m.curve} {
		*v = make([]float64, classes)
	}
	return m
}

// row is the part of a vector [n, stride] that belongs to the classes of a row.
func (m *Means) row(v []float64, k int) []float64 {
	at := int(m.rows[k]) * m.stride
	return v[at : at+len(m.M)]
}

// Evaluate finds means and entropy at these scores, and returns the cost.
func (m *Means) Evaluate(scores []float64) (value float64) { return m.evaluate(scores, nil) }

// evaluate does, and puts p into state unless that is nil.
func (m *Means) evaluate(scores, state []float64) (value float64) {
	classes := len(m.M)
	sums := make([]float64, 1+classes) // Σ u H, Σ u p
	m.job.Sum(len(m.rows), sums, func(lo, hi int, part []float64) {
		p := make([]float64, classes)
		for k := lo; k < hi; k++ {
			if state != nil {
				p = m.row(state, k)
			}
			s := m.row(scores, k)
			total := softmax(p, s)
			vector.Add(part[1:], m.weights[k], p)
			part[0] += m.weights[k] * (total - vector.Dot(p, s))
		}
	})
	m.MeanEntropy = sums[0]
	copy(m.M, sums[1:])
	m.Value = m.Constraint.At(m.M, m.slope, m.curve)
	return m.Entropy*m.MeanEntropy + m.Value
}

// Gradient implements risk.Joint; state is p.
func (m *Means) Gradient(scores, slope, state []float64) (value float64) {
	value = m.evaluate(scores, state)
	m.job.EachRow(len(m.rows), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			m.rowGradient(m.row(slope, k), m.row(state, k), m.row(scores, k), m.weights[k])
		}
	})
	return value
}

// Probabilities puts p into dst [rows, K].
func (m *Means) Probabilities(dst, scores []float64) {
	m.job.EachRow(len(m.rows), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			softmax(dst[k*len(m.M):(k+1)*len(m.M)], m.row(scores, k))
		}
	})
}

// Entropy is that of a row's probabilities, in nats.
func Entropy(scores []float64) float64 {
	p := make([]float64, len(scores))
	return softmax(p, scores) - vector.Dot(p, scores)
}

// rowGradient puts weight p (a - p . a) into dst; -log p is the negated score, up to what all classes have in common.
func (m *Means) rowGradient(dst, p, s []float64, weight float64) {
	mean := 0.0
	for y, q := range p {
		dst[y] = m.slope[y] - m.Entropy*s[y]
		mean += q * dst[y]
	}
	for y, q := range p {
		dst[y] = weight * q * (dst[y] - mean)
	}
}

// softmax sets p to the softmax of s and returns log Σ exp(s).
func softmax(p, s []float64) (total float64) {
	top, sum := math.Inf(-1), 0.0
	for _, v := range s {
		top = math.Max(top, v)
	}
	for y, v := range s {
		p[y] = math.Exp(v - top)
		sum += p[y]
	}
	for y := range p {
		p[y] /= sum
	}
	return top + math.Log(sum)
}

// HessVec implements risk.Joint. With δs the changes and δ̄_j = p_j . δs_j, p changes by δp = p (δs - δ̄), and a by
// -C (δs - δ̄) + the second derivative of G times δm, up to what all classes have in common.
func (m *Means) HessVec(changes, slope, state []float64) (curvature float64) {
	classes := len(m.M)
	moved := make([]float64, classes) // δm, then G'' δm
	m.job.Sum(len(m.rows), moved, func(lo, hi int, part []float64) {
		for k := lo; k < hi; k++ {
			p, change := m.row(state, k), m.row(changes, k)
			mean := vector.Dot(p, change)
			for y, q := range p {
				part[y] += m.weights[k] * q * (change[y] - mean)
			}
		}
	})
	for y, h := range m.curve {
		moved[y] *= h
	}
	var sum [1]float64
	m.job.Sum(len(m.rows), sum[:], func(lo, hi int, part []float64) {
		product := make([]float64, classes)
		for k := lo; k < hi; k++ {
			p, change := m.row(state, k), m.row(changes, k)
			if m.Convex {
				m.rowHessVecConvex(product, p, change, moved, m.weights[k])
			} else {
				m.rowHessVec(product, p, change, m.row(slope, k), moved, m.weights[k])
			}
			part[0] += vector.Dot(product, change)
			copy(change, product)
		}
	})
	return sum[0]
}

// rowHessVec is the second derivative times a change; slope = weight p (a - p . a).
func (m *Means) rowHessVec(dst, p, change, slope, moved []float64, weight float64) {
	mean, lifted := vector.Dot(p, change), vector.Dot(p, moved)
	inner := 0.0
	for y, g := range slope {
		inner += g * (change[y] - mean)
	}
	for y, q := range p {
		off := change[y] - mean
		dst[y] = slope[y]*off - q*inner + weight*q*(moved[y]-lifted-m.Entropy*off)
	}
}

func (m *Means) rowHessVecConvex(dst, p, change, moved []float64, weight float64) {
	mean, lifted := vector.Dot(p, change), vector.Dot(p, moved)
	for y, q := range p {
		dst[y] = weight * q * (moved[y] - lifted + m.Entropy*(change[y]-mean))
	}
}

// Line implements risk.Joint: exact second derivatives.
func (m *Means) Line(scores, changes []float64, t float64) (value, slope, curvature float64) {
	classes := len(m.M)
	sums := make([]float64, 3+3*classes) // Σ u H and its derivatives; m and its derivatives
	m.job.Sum(len(m.rows), sums, func(lo, hi int, part []float64) {
		buffer := make([]float64, 2*classes)
		p, s := buffer[:classes], buffer[classes:]
		for k := lo; k < hi; k++ {
			change := m.row(changes, k)
			copy(s, m.row(scores, k))
			vector.Add(s, t, change)
			total := softmax(p, s)
			rowLine(part, p, s, change, total, m.weights[k])
		}
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

// rowLine adds a row's part of the sums of Line: the derivatives of p are p (δ - δ̄) and p ((δ - δ̄)² -
// variance of δ); with log p = s - total those of H are -Σ (first of p) log p and -Σ (second of p) log p - Σ (first of
// p) (δ - δ̄).
func rowLine(part, p, s, change []float64, total, weight float64) {
	mean, classes := vector.Dot(p, change), len(p)
	part[0] += weight * (total - vector.Dot(p, s))
	variance := 0.0
	for y, q := range p {
		variance += q * (change[y] - mean) * (change[y] - mean)
	}
	for y, q := range p {
		off := change[y] - mean
		turned, product := weight*q*off, weight*q*(off*off-variance)
		part[1] -= turned * (s[y] - total)
		part[2] -= product*(s[y]-total) + turned*off
		part[3+y] += weight * q
		part[3+classes+y] += turned
		part[3+2*classes+y] += product
	}
}
