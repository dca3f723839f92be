package shares

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// calibration fits probabilities to scores of rows whose classes are known; it implements minimize.Objective.
//
//	Problem  min over β, b  -Σ_i w_i log p_i(y_i) + (β/β₀)²/2l + 5/2l |b - b₀|²,  p_i = softmax(β s_i + b)
//	Symbols  s_i scores [K], y_i class, w_i weight of row i, which sum to 1; l their number; β₀ widestSlope; b₀ biases
//	         that are expected: 0, or random ones for an interval
//	Source   Alexandari, Kundaje & Shrikumar 2020 (bias-corrected temperature scaling, β = 1/T). The two penalties are
//	         ours: few labels say little of the biases, and where all answers are right nothing else bounds β
//	Stops    Newton's method within calibrationTolerance
//	Cost     a step: a few passes over the scores
type calibration struct {
	job                *work.Job
	rows               scored
	class              []int32
	classes            int
	penalty            []float64 // [1+K] of β and b
	expected           []float64 // [1+K] 0 and b₀
	point, step        []float64 // [1+K] β, b; the line
	probability, along []float64 // [rows, K] at the point; change of β s + b along the line
}

const (
	widestSlope          = 10.0 // standard deviation of β before the labels are seen, in units of 1 / spread of scores
	biasRows             = 5.0  // 1 / variance that biases were seen to have on text of 8 and 20 classes
	calibrationTolerance = 1e-8
)

// calibrate gives β and b, where biases [K] are expected. The scores are divided by their spread before; β is that of
// the divided scores.
func calibrate(job *work.Job, rows scored, class []int32, biases []float64) *calibration {
	classes := len(biases)
	c := &calibration{job: job, rows: rows, class: class, classes: classes, penalty: make([]float64, 1+classes),
		expected: append(make([]float64, 1, 1+classes), biases...),
		point:    make([]float64, 1+classes), probability: make([]float64, len(rows.scores)),
		along: make([]float64, len(rows.scores))}
	total := vector.Sum(rows.weight)
	c.penalty[0] = 1 / (widestSlope * widestSlope * total)
	for y := range classes {
		c.penalty[1+y] = biasRows / total
	}
	c.rows.weight = make([]float64, len(rows.weight))
	vector.Add(c.rows.weight, 1/total, rows.weight)
	minimize.NewNewton(1+classes, job.Pool).Minimize(c, minimize.Limits{Tolerance: calibrationTolerance, MaxSteps: 50})
	c.point[0] = max(0, c.point[0]) // scores that point the wrong way say nothing
	return c
}

// softmax puts the probabilities of the scores s [K] into dst.
func (c *calibration) softmax(dst, s []float64) {
	for y, f := range s {
		dst[y] = c.point[0]*f + c.point[1+y]
	}
	normalizeExp(dst)
}

// normalizeExp turns logarithms, up to a constant, into probabilities and returns the logarithm of their sum.
func normalizeExp(v []float64) (logSum float64) {
	largest, sum := math.Inf(-1), 0.0
	for _, f := range v {
		largest = max(largest, f)
	}
	for y, f := range v {
		v[y] = math.Exp(f - largest)
		sum += v[y]
	}
	for y := range v {
		v[y] /= sum
	}
	return largest + math.Log(sum)
}

// sum adds what each row gives to dst.
func (c *calibration) sum(dst []float64, row func(i int, s, p, along, dst []float64)) {
	k := c.classes
	c.job.Sum(len(c.class), dst, func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			row(i, c.rows.scores[i*k:(i+1)*k], c.probability[i*k:(i+1)*k], c.along[i*k:(i+1)*k], part)
		}
	})
}

// Gradient implements minimize.Objective.
func (c *calibration) Gradient(dst []float64) float64 {
	sums := make([]float64, 1+len(dst)) // loss, its gradient
	c.sum(sums, func(i int, s, p, _, part []float64) {
		w, y := c.rows.weight[i], c.class[i]
		own := c.point[0]*s[y] + c.point[1+y]
		for k, f := range s {
			p[k] = c.point[0]*f + c.point[1+k]
		}
		part[0] += w * (normalizeExp(p) - own)
		for k, q := range p {
			if k == int(y) {
				q--
			}
			part[1] += w * q * s[k]
			part[2+k] += w * q
		}
	})
	value := sums[0]
	for k, v := range c.point {
		apart := v - c.expected[k]
		value += c.penalty[k] / 2 * apart * apart
		dst[k] = sums[1+k] + c.penalty[k]*apart
	}
	return value
}

// Gap implements minimize.Objective.
func (c *calibration) Gap(gradient []float64) float64 {
	gap := 0.0
	for k, g := range gradient {
		gap += g * g / (2 * c.penalty[k]) // strongly convex in each coordinate: H ≥ diag(penalty)
	}
	return gap
}

// UpdateHessian implements minimize.Objective.
func (c *calibration) UpdateHessian() {}

// HessVec implements minimize.Objective.
func (c *calibration) HessVec(dst, p []float64) (curvature float64) {
	sums := make([]float64, 1+len(dst))
	c.sum(sums, func(i int, s, probability, _, part []float64) {
		mean := 0.0
		for k, q := range probability {
			mean += q * (p[0]*s[k] + p[1+k])
		}
		for k, q := range probability {
			change := p[0]*s[k] + p[1+k]
			bent := c.rows.weight[i] * q * (change - mean)
			part[0] += bent * change
			part[1] += bent * s[k]
			part[2+k] += bent
		}
	})
	curvature = sums[0]
	for k, v := range p {
		curvature += c.penalty[k] * v * v
		dst[k] = sums[1+k] + c.penalty[k]*v
	}
	return curvature
}

// SetDirection implements minimize.Objective.
func (c *calibration) SetDirection(step []float64) {
	c.step = step
	c.sum(nil, func(_ int, s, _, along, _ []float64) {
		for k, f := range s {
			along[k] = step[0]*f + step[1+k]
		}
	})
}

// LineDerivatives implements minimize.Objective.
func (c *calibration) LineDerivatives(t float64) (slope, curvature float64) {
	var sums [2]float64
	c.sum(sums[:], func(i int, s, _, along, part []float64) {
		p := make([]float64, len(s))
		for k, f := range s {
			p[k] = c.point[0]*f + c.point[1+k] + t*along[k]
		}
		normalizeExp(p)
		mean, square := 0.0, 0.0
		for k, q := range p {
			mean += q * along[k]
			square += q * along[k] * along[k]
		}
		part[0] += c.rows.weight[i] * (mean - along[c.class[i]])
		part[1] += c.rows.weight[i] * (square - mean*mean)
	})
	for k, d := range c.step {
		sums[0] += c.penalty[k] * d * (c.point[k] + t*d - c.expected[k])
		sums[1] += c.penalty[k] * d * d
	}
	return sums[0], sums[1]
}

// Step implements minimize.Objective.
func (c *calibration) Step(t float64) { vector.Add(c.point, t, c.step) }
