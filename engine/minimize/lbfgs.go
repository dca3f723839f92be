package minimize

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Smooth is a function with a gradient. It may panic to be cancelled.
type Smooth interface {
	// At puts the gradient at w into gradient and returns the value.
	At(w, gradient []float64) float64
}

// QuasiNewton minimizes a smooth function, convex or not, from gradients.
//
//	Problem  a local minimum of F(w), F continuously differentiable
//	Symbols  g gradient [d]; s, y [d] differences of points and of gradients, the last Memory of them; t step length
//	Source   Nocedal & Wright 2006, algorithm 7.5 (L-BFGS, with the scaling of equation 7.20) and algorithms 3.5 and 3.6
//	         (strong Wolfe conditions, by cubic interpolation)
//	Differences  gonum's optimize evaluates on goroutines of its own, where a cancel, which is a panic here, would end
//	         the process, and has no place for a bound on the distance to the minimum
//	Stops    Enough holds for the value and the gradient's length; MaxSteps taken; no step improves (rounding)
//	Cost     a step: one to two gradients, 4 Memory d operations; (2 Memory + 5) d numbers
type QuasiNewton struct {
	Pool     *work.Pool
	Memory   int // pairs that are kept
	MaxSteps int
	// Enough ends the search. It is called after every step, and at the start.
	Enough func(step int, value, norm float64) bool
}

const (
	sufficient = 1e-4 // of the decrease that the slope promises
	flatness   = 0.9  // of the slope at the start
	mostTries  = 40   // of step lengths
)

// descent is the state of a search.
type descent struct {
	*QuasiNewton
	f                   Smooth
	w, g, trial, gTrial []float64
	direction           []float64
	s, y                [][]float64
	rho, weight         []float64
	value, valueTrial   float64
}

// Minimize moves w to a minimum and returns the value there and the steps taken.
func (q *QuasiNewton) Minimize(f Smooth, w []float64) (value float64, steps int) {
	d := descent{QuasiNewton: q, f: f, w: w, weight: make([]float64, q.Memory)}
	for _, v := range []*[]float64{&d.g, &d.trial, &d.gTrial, &d.direction} {
		*v = make([]float64, len(w))
	}
	d.value = f.At(w, d.g)
	for steps = 0; !q.Enough(steps, d.value, math.Sqrt(d.dot(d.g, d.g))) && steps < q.MaxSteps; steps++ {
		d.aim()
		if !d.search() {
			if len(d.s) == 0 {
				break
			}
			d.s, d.y, d.rho = nil, nil, nil // the pairs have misled: once more along the gradient
			d.aim()
			if !d.search() {
				break
			}
		}
		d.accept()
	}
	return d.value, steps
}

// aim sets the direction to -H g by the two loops over the pairs.
func (d *descent) aim() {
	d.each(d.direction, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			d.direction[j] = -d.g[j]
		}
	})
	for k := len(d.s) - 1; k >= 0; k-- {
		d.weight[k] = d.rho[k] * d.dot(d.s[k], d.direction)
		d.add(d.direction, -d.weight[k], d.y[k])
	}
	if last := len(d.s) - 1; last >= 0 {
		factor := 1 / (d.rho[last] * d.dot(d.y[last], d.y[last]))
		d.each(d.direction, func(lo, hi int) { vector.Scale(d.direction[lo:hi], factor) })
	}
	for k := range d.s {
		d.add(d.direction, d.weight[k]-d.rho[k]*d.dot(d.y[k], d.direction), d.s[k])
	}
}

// end is a step length with value and slope there.
type end struct{ t, value, slope float64 }

// search finds a step that satisfies the strong Wolfe conditions and puts the point there into trial.
func (d *descent) search() bool {
	start := end{0, d.value, d.dot(d.g, d.direction)}
	if !(start.slope < 0) {
		return false
	}
	t := 1.0
	if len(d.s) == 0 {
		t = min(1, 1/math.Sqrt(d.dot(d.g, d.g)))
	}
	before := start
	for try := range mostTries {
		now := d.try(t)
		switch {
		case !(now.value <= start.value+sufficient*t*start.slope) || try > 0 && now.value >= before.value:
			return d.zoom(start, before, now)
		case math.Abs(now.slope) <= -flatness*start.slope:
			return true
		case now.slope >= 0:
			return d.zoom(start, now, before)
		}
		before, t = now, 2*t
	}
	return false
}

// zoom looks between low, which decreases enough, and high.
func (d *descent) zoom(start, low, high end) bool {
	for range mostTries {
		t := interpolated(low, high)
		if t == low.t || t == high.t {
			break
		}
		now := d.try(t)
		switch {
		case !(now.value <= start.value+sufficient*t*start.slope) || now.value >= low.value:
			high = now
		case math.Abs(now.slope) <= -flatness*start.slope:
			return true
		default:
			if now.slope*(high.t-low.t) >= 0 {
				high = low
			}
			low = now
		}
	}
	return low.t > 0 && d.try(low.t).value < start.value
}

// interpolated is the minimum of the cubic through two ends, kept off them by a tenth of the way.
func interpolated(a, b end) float64 {
	d1 := a.slope + b.slope - 3*(a.value-b.value)/(a.t-b.t)
	d2 := math.Copysign(math.Sqrt(d1*d1-a.slope*b.slope), b.t-a.t)
	t := b.t - (b.t-a.t)*(b.slope+d2-d1)/(b.slope-a.slope+2*d2)
	low, high := min(a.t, b.t), max(a.t, b.t)
	if margin := 0.1 * (high - low); !(t >= low+margin && t <= high-margin) {
		return low + (high-low)/2
	}
	return t
}

// try evaluates at a step length.
func (d *descent) try(t float64) end {
	d.each(d.trial, func(lo, hi int) {
		copy(d.trial[lo:hi], d.w[lo:hi])
		vector.Add(d.trial[lo:hi], t, d.direction[lo:hi])
	})
	d.valueTrial = d.f.At(d.trial, d.gTrial)
	return end{t, d.valueTrial, d.dot(d.gTrial, d.direction)}
}

// accept goes to the trial point and keeps the pair, if the curvature along it is above 0.
func (d *descent) accept() {
	var s, y []float64
	if len(d.s) == d.Memory {
		s, y = d.s[0], d.y[0]
		d.s, d.y, d.rho = d.s[1:], d.y[1:], d.rho[1:]
	} else {
		s, y = make([]float64, len(d.w)), make([]float64, len(d.w))
	}
	d.each(s, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			s[j], y[j] = d.trial[j]-d.w[j], d.gTrial[j]-d.g[j]
		}
		copy(d.w[lo:hi], d.trial[lo:hi])
	})
	d.g, d.gTrial, d.value = d.gTrial, d.g, d.valueTrial
	if curvature := d.dot(s, y); curvature > 0 {
		d.s, d.y, d.rho = append(d.s, s), append(d.y, y), append(d.rho, 1/curvature)
	}
}

func (d *descent) dot(a, b []float64) float64 {
	var sum [1]float64
	d.Pool.Total(len(a), sum[:], func(lo, hi int, dst []float64) { dst[0] = vector.Dot(a[lo:hi], b[lo:hi]) })
	return sum[0]
}

func (d *descent) add(dst []float64, factor float64, src []float64) {
	d.each(dst, func(lo, hi int) { vector.Add(dst[lo:hi], factor, src[lo:hi]) })
}

func (d *descent) each(v []float64, task func(lo, hi int)) { d.Pool.Stripes(len(v), task) }
