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

// direct sets step = T (H + μ)⁻¹ (r - q) and reports whether it leads upwards. μ, in proportion to the error, keeps
// every entry below longest T.
func (d *dual) direct() bool {
	const longest = 30
	if !d.newton.known {
		d.curve()
	}
	x := make([]float64, len(d.live))
	for k, y := range d.live {
		x[k] = d.shares[y] - d.q[y]
	}
	d.newton.links.solve(x, d.farthest()/longest)
	clear(d.step)
	for k, y := range d.live {
		d.step[y] = d.temperature * x[k]
	}
	d.centre(d.step)
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

// newton holds H, which serves for several steps as long as they lower the error fast.
type newton struct {
	links   laplacian
	known   bool
	weakest float64 // pairs of labels with a soft label below count as if the other potential stayed
}

const (
	firstWeakest = 1e-3
	lastWeakest  = 1e-15
)

func (w *newton) forget() { w.known, w.weakest = false, firstWeakest }

// doubt asks for a new H, and a more exact one if not even a new one has helped.
func (w *newton) doubt(stuck int) {
	w.known = false
	switch {
	case stuck > 0 && w.weakest > lastWeakest:
		w.weakest *= 1e-3
	case stuck > 0:
		w.weakest = 0
	}
}

// curve finds H for the p that are there.
func (d *dual) curve() {
	m, n := len(d.v), len(d.live)
	sums := make([]float64, m*m)
	d.job.Sum(len(d.weights), sums, func(lo, hi int, dst []float64) {
		strong := make([]int, 0, m)
		for i := lo; i < hi; i++ {
			linkRow(dst, d.p[i*m:(i+1)*m], d.weights[i], d.newton.weakest, strong)
		}
	})
	d.newton.links = laplacian{make([]float64, n*n), make([]float64, n)}
	for j, y := range d.live {
		for k, z := range d.live[:j] {
			d.newton.links.link[k*n+j] = sums[y*m+z] / d.weight
		}
		d.newton.links.ground[j] = sums[y*m+y] / d.weight
	}
	d.newton.known = true
}

// linkRow adds s p_y p_z for the strong pairs z < y of a row to the links, and for the others to the diagonal. strong
// is scratch.
func linkRow(links, p []float64, s, weakest float64, strong []int) {
	m, weak := len(p), 0.0
	for y, q := range p {
		if q < weakest {
			weak += q
			links[y*m+y] += s * q * (1 - q)
			continue
		}
		if q == 0 {
			continue
		}
		for _, z := range strong {
			links[y*m+z] += s * q * p[z]
		}
		strong = append(strong, y)
	}
	if weak > 0 {
		for _, y := range strong {
			links[y*m+y] += s * p[y] * weak
		}
	}
}

// laplacian is a matrix with entries -link off the diagonal and the sum of a row's links and its ground on it: so is H,
// with links Σ s p_y p_z. Elimination only adds and multiplies positive numbers, so that even links of very different
// size lose no digits.
type laplacian struct {
	link   []float64 // above the diagonal [n, n]
	ground []float64 // [n]
}

// solve replaces x by the solution of (this + μ) z = x, for μ > 0.
func (l laplacian) solve(x []float64, mu float64) {
	n := len(x)
	link, ground, sum := append([]float64(nil), l.link...), append([]float64(nil), l.ground...), make([]float64, n)
	for k := range n {
		row := link[k*n : (k+1)*n]
		sum[k] = ground[k] + mu
		for _, w := range row[k+1:] {
			sum[k] += w
		}
		for i := k + 1; i < n; i++ {
			share := row[i] / sum[k]
			if share == 0 {
				continue
			}
			ground[i] += share * (ground[k] + mu)
			x[i] += share * x[k]
			for j := i + 1; j < n; j++ {
				link[i*n+j] += share * row[j]
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			x[k] += link[k*n+j] * x[j]
		}
		x[k] /= sum[k]
	}
}
