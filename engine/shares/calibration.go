package shares

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// calibration fits probabilities to scores of rows whose classes are known; it implements minimize.Smooth.
//
//	Problem  min over β, b  -Σ_i w_i log p_i(y_i) + |β/β₀|²/2l + 5/2l |b - b₀|²,  p_i = softmax(Σ_v β_v s_iv + b)
//	Symbols  s_iv scores [K] of view v, y_i class, w_i weight of row i, which sum to 1; l their number; β₀ widestSlope;
//	         b₀ expected biases: 0, or random ones for an interval
//	Source   Alexandari, Kundaje & Shrikumar 2020 (bias-corrected temperature scaling, β = 1/T); Wolpert 1992 (stacking
//	         of views). The penalties are ours: few labels leave biases open, and β if all predictions are right. A view
//	         with a negative β is left out
//	Stops    L-BFGS within calibrationTolerance, in units of 1/√penalty: H ≥ 1 there, and the gap is at most |g|²/2
//	Cost     a step: a pass or two over the scores
type calibration struct {
	job      *work.Job
	views    [][]float64 // [V] scores [n, K], each view divided by its spread
	class    []int32
	weight   []float64
	classes  int
	penalty  []float64 // [V+K] of β and b
	expected []float64 // [V+K] 0 and b₀
	point    []float64 // [V+K] β, b
}

const (
	widestSlope          = 10.0 // prior standard deviation of β, in units of 1 / spread of scores
	biasRows             = 5.0  // 1 / prior variance of biases, as seen on text of 8 and 20 classes
	calibrationTolerance = 1e-8
	calibrationMemory    = 20
	calibrationSteps     = 500
)

// calibrate finds β and b with these expected biases [K]. Views that it leaves out have β = 0 and cleared scores.
func calibrate(job *work.Job, rows crossfit.Scored, class []int32, biases []float64) *calibration {
	views, total, dim := len(rows.Views), vector.Sum(rows.Weight), len(rows.Views)+len(biases)
	ofSlopes := slices.Repeat([]float64{1 / (widestSlope * widestSlope * total)}, views)
	c := &calibration{job: job, views: rows.Views, class: class, classes: len(biases),
		weight:   floats.ScaleTo(make([]float64, len(class)), 1/total, rows.Weight),
		penalty:  slices.Concat(ofSlopes, slices.Repeat([]float64{biasRows / total}, len(biases))),
		expected: append(make([]float64, views, dim), biases...), point: make([]float64, dim)}
	search := minimize.QuasiNewton{Memory: calibrationMemory, MaxSteps: calibrationSteps,
		Enough: func(_ int, value, norm float64) bool { return norm*norm/2 <= calibrationTolerance*value }}
	for scaled, again := make([]float64, dim), true; again; {
		search.Minimize(c, scaled)
		c.unscale(scaled)
		again = false
		for v, view := range c.views {
			if c.point[v] < 0 {
				again, c.point[v], scaled[v] = true, 0, 0
				clear(view)
			}
		}
	}
	return c
}

// probabilities are those [n, K] of rows with these scores [V] [n, K].
func (c *calibration) probabilities(views [][]float64) []float64 {
	out := make([]float64, len(views[0]))
	c.job.Every(len(out)/c.classes, func(i int) {
		p := out[i*c.classes : (i+1)*c.classes]
		c.scores(p, views, i)
		vector.Softmax(p, p)
	})
	return out
}

// scores puts Σ_v β_v s_iv + b into dst [K].
func (c *calibration) scores(dst []float64, views [][]float64, i int) {
	copy(dst, c.point[len(views):])
	for v, view := range views {
		vector.Add(dst, c.point[v], view[i*c.classes:(i+1)*c.classes])
	}
}

// unscale sets β and b from these in units of 1/√penalty.
func (c *calibration) unscale(scaled []float64) {
	for k, v := range scaled {
		c.point[k] = v / math.Sqrt(c.penalty[k])
	}
}

func (c *calibration) At(scaled, gradient []float64) float64 {
	c.unscale(scaled)
	sums := make([]float64, 1+len(scaled)) // loss, its gradient
	c.job.SumRows(len(c.class), c.classes, sums, func(i int, part, p []float64) {
		w, y := c.weight[i], c.class[i]
		c.scores(p, c.views, i)
		score := p[y]
		part[0] += w * (vector.Softmax(p, p) - score)
		p[y]--
		for v, view := range c.views {
			part[1+v] += w * vector.Dot(p, view[i*c.classes:(i+1)*c.classes])
		}
		vector.Add(part[1+len(c.views):], w, p)
	})
	value := sums[0]
	for k, v := range c.point {
		off := v - c.expected[k]
		value += c.penalty[k] / 2 * off * off
		gradient[k] = (sums[1+k] + c.penalty[k]*off) / math.Sqrt(c.penalty[k])
	}
	return value
}
