package labeling

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fewlabel/fewlabel/engine/minimize"
)

// solve raises the dual until the residual is at most tolerance, and ends at the best potentials that it met. p and its
// means belong to the potentials on entry and on return.
func (d *dual) solve(residual func() float64, tolerance float64) {
	best, last, stagnant := math.Inf(1), math.Inf(1), 0
	sinkhorn := true // its update suffices
	d.newton = newton{cutoff: firstCutoff}
	for {
		now := residual()
		stagnant++
		if now < 0.9*best {
			stagnant = 0
		}
		if now < best {
			best = now
			copy(d.best, d.v)
		}
		if now <= tolerance || stagnant >= patience || d.evaluations >= budget {
			break
		}
		sinkhorn = sinkhorn && now < last/3
		if now > last/10 {
			d.newton.expire(stagnant)
		}
		last = now
		if sinkhorn || !d.direct() || !d.lineSearch() {
			d.sinkhorn()
		}
	}
	d.moveTo(d.best)
}

// sinkhorn meets each share as if the other potentials could stay.
func (d *dual) sinkhorn() {
	for _, y := range d.live {
		d.v[y] += d.temperature * (math.Log(d.shares[y]) - math.Log(math.Max(d.q[y], 1e-300)))
	}
	d.center(d.v)
	d.evaluate(d.v)
}

// direct sets step = T (H + μ)⁻¹ (r - q) and reports whether it leads upwards. μ, in proportion to the residual, keeps
// every entry below longest T.
func (d *dual) direct() bool {
	const longest = 30
	x := make([]float64, len(d.live))
	for k, y := range d.live {
		x[k] = d.shares[y] - d.q[y]
	}
	if !d.solveNewton(x, d.residual()/longest) {
		return false
	}
	clear(d.step)
	for k, y := range d.live {
		d.step[y] = d.temperature * x[k]
	}
	d.center(d.step)
	return d.slope() > 0
}

// solveNewton replaces x by the solution of (H + μ) z = x, if rounding leaves one; for very many classes about.
func (d *dual) solveNewton(x []float64, mu float64) bool {
	if d.products {
		gradients := minimize.NewConjugateGradients(len(x), d.job.Pool)
		copy(x, gradients.Solve(d.covariance(mu), slices.Clone(x), productsEta, len(x)))
		return true
	}
	if d.newton.hessian == nil {
		d.newton.hessian = d.hessian()
	}
	return d.newton.solve(mat.NewVecDense(len(x), x), mu)
}

// slope is the derivative of the dual along the step.
func (d *dual) slope() float64 {
	slope := 0.0
	for _, y := range d.live {
		slope += (d.shares[y] - d.q[y]) * d.step[y]
	}
	return slope
}

// lineSearch goes along the step to where the slope is at most half of what it is here, on either side of its zero, and
// reports whether there is such a point in reach. The dual is concave: the slope falls.
func (d *dual) lineSearch() bool {
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

// newton holds H, which serves for several steps as long as they lower the residual fast.
type newton struct {
	hessian *mat.SymDense // of the live classes; nil: to be computed
	cutoff  float64       // pairs of labels with a soft label up to this count as if the other potential stayed
}

const (
	firstCutoff = 1e-3
	lastCutoff  = 1e-15
)

// expire asks for a new H, and a more exact one if not even a new one has helped.
func (w *newton) expire(stagnant int) {
	w.hessian = nil
	switch {
	case stagnant > 0 && w.cutoff > lastCutoff:
		w.cutoff *= 1e-3
	case stagnant > 0:
		w.cutoff = 0
	}
}

// solve replaces x by the solution of (H + μ) z = x, if rounding leaves one.
func (w *newton) solve(x *mat.VecDense, mu float64) bool {
	shifted := mat.NewSymDense(x.Len(), nil)
	shifted.CopySym(w.hessian)
	for k := range x.Len() {
		shifted.SetSym(k, k, shifted.At(k, k)+mu)
	}
	var factor mat.Cholesky
	return factor.Factorize(shifted) && factor.SolveVecTo(x, x) == nil
}

// hessian is H at the p that are there.
func (d *dual) hessian() *mat.SymDense {
	m, n := len(d.v), len(d.live)
	sums := make([]float64, m*m)
	d.job.Sum(len(d.weights), sums, func(lo, hi int, dst []float64) {
		strong := make([]int, 0, m)
		for i := lo; i < hi; i++ {
			addCovariance(dst, d.p[i*m:(i+1)*m], d.weights[i], d.newton.cutoff, strong)
		}
	})
	h := mat.NewSymDense(n, nil)
	for j, y := range d.live {
		for k, z := range d.live[:j+1] {
			h.SetSym(j, k, sums[y*m+z]/d.weight)
		}
	}
	return h
}

// addCovariance adds s (diag(p) - p p') of a row to the lower half of h, without the products of labels up to the
// cutoff. strong is scratch.
func addCovariance(h, p []float64, s, cutoff float64, strong []int) {
	m := len(p)
	for y, q := range p {
		h[y*m+y] += s * q * (1 - q)
		if q <= cutoff {
			continue
		}
		for _, z := range strong {
			h[y*m+z] -= s * q * p[z]
		}
		strong = append(strong, y)
	}
}
