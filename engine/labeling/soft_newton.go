package labeling

import (
	"math"
	"slices"
)

// solve raises the dual until the error is at most tolerance, and ends at the best potentials that it met. p and its
// means belong to the potentials on entry and on return.
func (d *dual) solve(farthest func() float64, tolerance float64) {
	best, last, stuck := math.Inf(1), math.Inf(1), 0
	simple := true // Sinkhorn's update suffices
	d.newton.forget()
	for {
		now := farthest()
		if now < 0.9*best {
			stuck = 0
		} else {
			stuck++
		}
		if now < best {
			best = now
			copy(d.best, d.v)
		}
		if now <= tolerance || stuck >= patience || d.left <= 0 {
			break
		}
		simple = simple && now < last/3
		if now > last/10 {
			d.newton.doubt(stuck)
		}
		last = now
		if simple || !d.direct() || !d.search() {
			d.sinkhorn()
		}
	}
	if !slices.Equal(d.v, d.best) {
		copy(d.v, d.best)
		d.evaluate(d.v)
	}
}

// sinkhorn meets each share as if the other potentials could stay.
func (d *dual) sinkhorn() {
	for _, y := range d.live {
		d.v[y] += d.temperature * (math.Log(d.shares[y]) - math.Log(math.Max(d.q[y], 1e-300)))
	}
	d.centre(d.v)
	d.evaluate(d.v)
}

// direct sets step = T H⁻¹ (r - q), at most longest T, and reports whether it leads upwards.
func (d *dual) direct() bool {
	const longest = 30
	if !d.newton.known && !d.factorize() {
		return false
	}
	x, largest := make([]float64, len(d.live)), 0.0
	for k, y := range d.live {
		x[k] = d.shares[y] - d.q[y]
	}
	d.newton.solve(x)
	clear(d.step)
	for k, y := range d.live {
		d.step[y] = d.temperature * x[k]
	}
	d.centre(d.step)
	for _, y := range d.live {
		largest = math.Max(largest, math.Abs(d.step[y]))
	}
	if largest > longest*d.temperature {
		for _, y := range d.live {
			d.step[y] *= longest * d.temperature / largest
		}
	}
	return d.slope() > 0
}

// slope is the derivative of the dual along the step.
func (d *dual) slope() float64 {
	slope := 0.0
	for _, y := range d.live {
		slope += (d.shares[y] - d.q[y]) * d.step[y]
	}
	return slope
}

// search goes along the step to where the slope is at most half of what it is here, on either side of its zero, and
// reports whether it found such a point. The dual is concave: the slope falls.
func (d *dual) search() bool {
	start := d.slope()
	low, high, t := 0.0, math.Inf(1), 1.0
	for range 20 {
		for y := range d.v {
			d.trial[y] = d.v[y] + t*d.step[y]
		}
		d.evaluate(d.trial)
		slope := d.slope()
		if math.Abs(slope) <= 0.5*start {
			copy(d.v, d.trial)
			return true
		}
		if slope > 0 {
			low = t
		} else {
			high = t
		}
		if math.IsInf(high, 1) {
			t *= 2
		} else {
			t = low + (high-low)*math.Max(0.1, math.Min(0.5, start/(start-slope)))
		}
	}
	d.evaluate(d.v)
	return false
}

// newton holds the factor of H, which serves for several steps as long as they lower the error fast.
type newton struct {
	factor, scale []float64
	known         bool
	weakest       float64 // pairs of labels with a soft label below are left out of H
}

const (
	firstWeakest = 1e-3
	lastWeakest  = 1e-15
)

func (w *newton) forget() { w.known, w.weakest = false, firstWeakest }

// doubt asks for a new factor, of a more exact H if not even a new one has helped.
func (w *newton) doubt(stuck int) {
	w.known = false
	if stuck > 0 {
		w.weakest = math.Max(lastWeakest, w.weakest*1e-3)
	}
}

// factorize finds and factorizes H, scaled to a diagonal of ones, with a ridge: H is singular along (1, ..., 1). The
// diagonal counts the pairs that are left out, so that the matrix stays positive semidefinite and errs on the side of
// short steps.
func (d *dual) factorize() bool {
	n, m := len(d.live), len(d.v)
	h := d.curvature()
	w := &d.newton
	w.factor, w.scale = make([]float64, n*n), make([]float64, n)
	for i, y := range d.live {
		w.scale[i] = 1 / math.Sqrt(h[y*m+y]/d.weight+1e-30)
		for j, z := range d.live[:i] {
			w.factor[i*n+j] = h[y*m+z] / d.weight * w.scale[i] * w.scale[j]
		}
		w.factor[i*n+i] = 1 + 1e-13
	}
	w.known = cholesky(w.factor, n)
	return w.known
}

// curvature is the lower triangle of Σ s_i (diag(p_i) - p_i p_i').

func (d *dual) curvature() []float64 {
	m := len(d.v)
	sums := make([]float64, m*m)
	d.job.Sum(len(d.weights), sums, func(lo, hi int, h []float64) {
		strong := make([]int, 0, m)
		for i := lo; i < hi; i++ {
			p, s := d.p[i*m:(i+1)*m], d.weights[i]
			strong = strong[:0]
			for y, q := range p {
				if q == 0 {
					continue
				}
				h[y*m+y] += s * q * (1 - q)
				if q < d.newton.weakest {
					continue
				}
				for _, z := range strong {
					h[y*m+z] -= s * q * p[z]
				}
				strong = append(strong, y)
			}
		}
	})
	return sums
}

// solve replaces x by H⁻¹ x.
func (w *newton) solve(x []float64) {
	n := len(x)
	for i := range n {
		x[i] *= w.scale[i]
		for k := range i {
			x[i] -= w.factor[i*n+k] * x[k]
		}
		x[i] /= w.factor[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= w.factor[k*n+i] * x[k]
		}
		x[i] /= w.factor[i*n+i]
	}
	for i := range n {
		x[i] *= w.scale[i]
	}
}

// cholesky replaces the lower triangle of the n by n matrix a by its factor L, a = L L', if a is positive definite.
func cholesky(a []float64, n int) bool {
	for i := range n {
		for j := range i + 1 {
			sum := a[i*n+j]
			for k := range j {
				sum -= a[i*n+k] * a[j*n+k]
			}
			if i > j {
				a[i*n+j] = sum / a[j*n+j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			a[i*n+i] = math.Sqrt(sum)
		}
	}
	return true
}
