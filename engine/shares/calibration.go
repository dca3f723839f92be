package shares

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// calibration fits probabilities to scores of rows whose classes are known; it implements minimize.Objective.
//
//	Problem  min over β, b  -Σ_i w_i log p_i(y_i) + |β/β₀|²/2l + 5/2l |b - b₀|²,  p_i = softmax(Σ_v β_v s_iv + b)
//	Symbols  s_iv scores [K] of view v, y_i class, w_i weight of row i, which sum to 1; l their number; β₀ widestSlope;
//	         b₀ biases that are expected: 0, or random ones for an interval
//	Source   Alexandari, Kundaje & Shrikumar 2020 (bias-corrected temperature scaling, β = 1/T); Wolpert 1992 (several
//	         views: stacking). The two penalties are ours: few labels say little of the biases, and where all answers
//	         are right nothing else bounds β. A view whose β would be negative is left out
//	Stops    Newton's method within calibrationTolerance
//	Cost     a step: a few passes over the scores
type calibration struct {
	job                *work.Job
	rows               crossfit.Scored // [rows, V K], each view divided by its spread
	class              []int32
	views, classes     int
	penalty            []float64 // [V+K] of β and b
	expected           []float64 // [V+K] 0 and b₀
	point, step        []float64 // [V+K] β, b; the line
	probability, along []float64 // [rows, K] at the point; change of Σ β s + b along the line
}

const (
	widestSlope          = 10.0 // standard deviation of β before the labels are seen, in units of 1 / spread of scores
	biasRows             = 5.0  // 1 / variance that biases were seen to have on text of 8 and 20 classes
	calibrationTolerance = 1e-8
)

// calibrate gives β and b, where biases [K] are expected. It clears scores of views that it leaves out, whose β is 0.
func calibrate(job *work.Job, rows crossfit.Scored, class []int32, biases []float64) *calibration {
	n, classes := len(class), len(biases)
	views := len(rows.Scores) / n / classes
	dim := views + classes
	c := &calibration{job: job, rows: rows, class: class, views: views, classes: classes,
		penalty: make([]float64, dim), expected: append(make([]float64, views, dim), biases...),
		point: make([]float64, dim), probability: make([]float64, n*classes), along: make([]float64, n*classes)}
	total := vector.Sum(rows.Weight)
	for k := range dim {
		c.penalty[k] = biasRows / total
		if k < views {
			c.penalty[k] = 1 / (widestSlope * widestSlope * total)
		}
	}
	c.rows.Weight = make([]float64, n)
	vector.Add(c.rows.Weight, 1/total, rows.Weight)
	newton := minimize.NewNewton(dim, job.Pool)
	for again := true; again; {
		newton.Minimize(c, minimize.Limits{Tolerance: calibrationTolerance, MaxSteps: 50})
		again = c.dropNegative()
	}
	return c
}

// dropNegative leaves out the views whose scores point the wrong way, and reports whether there are some.
func (c *calibration) dropNegative() (dropped bool) {
	for v, slope := range c.point[:c.views] {
		if slope < 0 {
			dropped, c.point[v] = true, 0
			for i := range c.class {
				clear(c.rows.Scores[(i*c.views+v)*c.classes:][:c.classes])
			}
		}
	}
	return dropped
}

// scores puts Σ_v β_v s_v + b for the scores s [V K] of a row into dst [K].
func (c *calibration) scores(dst, s, point []float64) {
	copy(dst, point[c.views:])
	for v, slope := range point[:c.views] {
		vector.Add(dst, slope, s[v*c.classes:(v+1)*c.classes])
	}
}

// softmax puts the probabilities of a row of scores [V K] into dst [K].
func (c *calibration) softmax(dst, s []float64) {
	c.scores(dst, s, c.point)
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
	k, width := c.classes, c.views*c.classes
	c.job.Sum(len(c.class), dst, func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			row(i, c.rows.Scores[i*width:(i+1)*width], c.probability[i*k:(i+1)*k], c.along[i*k:(i+1)*k], part)
		}
	})
}

// back adds the derivatives by β and b to dst [V+K], from those by the scores of a row, q [K].
func (c *calibration) back(dst, q, s []float64) {
	for v := range c.views {
		dst[v] += vector.Dot(q, s[v*c.classes:(v+1)*c.classes])
	}
	vector.Add(dst[c.views:], 1, q)
}

// Gradient implements minimize.Objective.
func (c *calibration) Gradient(dst []float64) float64 {
	sums := make([]float64, 1+len(dst)) // loss, its gradient
	c.sum(sums, func(i int, s, p, _, part []float64) {
		w, y := c.rows.Weight[i], c.class[i]
		c.scores(p, s, c.point)
		own := p[y]
		part[0] += w * (normalizeExp(p) - own)
		q := make([]float64, len(p))
		vector.Add(q, w, p)
		q[y] -= w
		c.back(part[1:], q, s)
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
		change := make([]float64, c.classes)
		c.scores(change, s, p)
		mean := vector.Dot(probability, change)
		q := make([]float64, c.classes)
		for k, f := range probability {
			q[k] = c.rows.Weight[i] * f * (change[k] - mean)
		}
		part[0] += vector.Dot(q, change)
		c.back(part[1:], q, s)
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
	c.sum(nil, func(_ int, s, _, along, _ []float64) { c.scores(along, s, step) })
}

// LineDerivatives implements minimize.Objective.
func (c *calibration) LineDerivatives(t float64) (slope, curvature float64) {
	var sums [2]float64
	c.sum(sums[:], func(i int, s, _, along, part []float64) {
		p := make([]float64, c.classes)
		c.scores(p, s, c.point)
		vector.Add(p, t, along)
		normalizeExp(p)
		mean, square := 0.0, 0.0
		for k, q := range p {
			mean += q * along[k]
			square += q * along[k] * along[k]
		}
		part[0] += c.rows.Weight[i] * (mean - along[c.class[i]])
		part[1] += c.rows.Weight[i] * (square - mean*mean)
	})
	for k, d := range c.step {
		sums[0] += c.penalty[k] * d * (c.point[k] + t*d - c.expected[k])
		sums[1] += c.penalty[k] * d * d
	}
	return sums[0], sums[1]
}

// Step implements minimize.Objective.
func (c *calibration) Step(t float64) { vector.Add(c.point, t, c.step) }
