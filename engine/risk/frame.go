package risk

import (
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Frame says how a score gets its intercept.
//
//	constant feature  f(x) = x . w + b with b regularized like any weight (Sindhwani & Keerthi 2006). With a center
//	                  μ the last variable is c = b + μ . w, f(x) = (x - μ) . w + c: the same problem in coordinates
//	                  in which c and w hardly interact, so that conjugate gradients need about half the steps
//	centred           f(x) = (x - μ) . w + m: the mean score of the rows whose mean is μ is m, whatever w is: the
//	                  linear balance constraint of Chapelle & Zien 2005 built into the coordinates
//	neither           f(x) = x . w
//
// x - μ is never formed: sparse rows stay sparse. The penalty of a vector p is α pᵀ R p, the squared norm of its
// weights and, if regularized, its intercept. With a constant feature and a center, R p = (p - b μ, b), b = c - μ . p.
type Frame struct {
	Constant bool
	Center   []float64 // μ [d] or nil
	Mean     float64   // m; 0 with a constant feature
}

func (f Frame) dim(cols int) int {
	if f.Constant {
		return cols + 1
	}
	return cols
}

// turned says that the intercept depends on all variables, so that R is not the identity.
func (f Frame) turned() bool { return f.Constant && f.Center != nil }

// shift is the part of a score's change along p that all rows share: the intercept's change.
func (f Frame) shift(pool *work.Pool, p []float64) float64 {
	var center [1]float64
	if f.Center != nil {
		pool.Total(len(f.Center), center[:], func(lo, hi int, dst []float64) {
			dst[0] = vector.Dot(f.Center[lo:hi], p[lo:hi])
		})
	}
	return f.shifted(p, center[0])
}

// shifted is the shift when μ . p is known.
func (f Frame) shifted(p []float64, center float64) float64 {
	if f.Constant {
		return p[len(p)-1] - center
	}
	return -center
}

// offset is the intercept at w.
func (f Frame) offset(pool *work.Pool, w []float64) float64 { return f.shift(pool, w) + f.Mean }

// open begins dst = α R p + Σ q_i (row i in the frame): it sets dst = α p, and gives the shift of p and pᵀ R p. What
// the rows have beyond their features comes with shut.
func (f Frame) open(pool *work.Pool, dst, p []float64, alpha float64) (shift, square float64) {
	var sums [2]float64 // p . p, μ . p
	pool.Total(len(p), sums[:], func(lo, hi int, part []float64) {
		for j, v := range p[lo:hi] {
			dst[lo+j] = alpha * v
		}
		part[0] = vector.Dot(p[lo:hi], p[lo:hi])
		if f.Center != nil {
			part[1] = vector.Dot(f.Center[lo:min(hi, len(f.Center))], p[lo:hi])
		}
	})
	shift = f.shifted(p, sums[1])
	if f.turned() {
		last := p[len(p)-1]
		return shift, sums[0] - last*last + shift*shift
	}
	return shift, sums[0]
}

// shut ends what open began; shift is that of p, total = Σ q_i.
func (f Frame) shut(pool *work.Pool, dst []float64, alpha, shift, total float64) {
	if f.turned() {
		total += alpha * shift
		dst[len(dst)-1] = 0
	}
	if f.Constant {
		dst[len(dst)-1] += total
	}
	if f.Center != nil {
		pool.Stripes(len(f.Center), func(lo, hi int) { vector.Add(dst[lo:hi], -total, f.Center[lo:hi]) })
	}
}

// inner is pᵀ R q.
func (f Frame) inner(pool *work.Pool, p, q []float64) float64 {
	var sums [1]float64
	pool.Total(len(p), sums[:], func(lo, hi int, dst []float64) { dst[0] = vector.Dot(p[lo:hi], q[lo:hi]) })
	if f.turned() {
		last := len(p) - 1
		return sums[0] - p[last]*q[last] + f.shift(pool, p)*f.shift(pool, q)
	}
	return sums[0]
}

// steepness is the squared norm of a gradient g, taken in the coordinates (w, b) in which the penalty is a plain norm.
func (f Frame) steepness(pool *work.Pool, g []float64) float64 {
	var sums [1]float64
	if !f.turned() {
		pool.Total(len(g), sums[:], func(lo, hi int, dst []float64) { dst[0] = vector.Dot(g[lo:hi], g[lo:hi]) })
		return sums[0]
	}
	last := g[len(g)-1]
	pool.Total(len(f.Center), sums[:], func(lo, hi int, dst []float64) {
		for j, mu := range f.Center[lo:hi] {
			v := g[lo+j] + mu*last
			dst[0] += v * v
		}
	})
	return sums[0] + last*last
}
