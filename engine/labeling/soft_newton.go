package labeling

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	firstCutoff = 1e-3  // of soft labels in H
	perClass    = 1e-5  // the first cutoff is at least this for each class: then a row has few pairs above it
	lastCutoff  = 1e-15 // before 0
)

// solve raises the dual until the residual is at most tolerance, and ends with p at the best potentials that it met.
func (d *dual) solve(relative bool, tolerance float64) {
	best, last, stagnant := math.Inf(1), math.Inf(1), 0
	sinkhorn := true // its update suffices
	d.stored, d.cutoff = nil, max(firstCutoff, perClass*float64(len(d.live)))
	for {
		now := d.residual(relative)
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
			d.expire(stagnant)
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

// direct sets step = T (H + μ)⁻¹ (r - q) and reports whether it leads upwards. μ keeps every entry below longest T.
func (d *dual) direct() bool {
	const longest = 30
	x := make([]float64, len(d.live))
	for k, y := range d.live {
		x[k] = d.shares[y] - d.q[y]
	}
	if !d.solveNewton(x, d.residual(false)/longest) {
		return false
	}
	for k, y := range d.live {
		d.step[y] = d.temperature * x[k]
	}
	d.center(d.step)
	return d.slope() > 0
}

// solveNewton replaces x by the solution of (H + μ) z = x, if rounding leaves one.
func (d *dual) solveNewton(x []float64, mu float64) bool {
	if d.stored == nil {
		d.stored = d.hessian()
	}
	shifted, z := mat.NewSymDense(len(x), nil), mat.NewVecDense(len(x), x)
	shifted.CopySym(d.stored)
	for k := range x {
		shifted.SetSym(k, k, shifted.At(k, k)+mu)
	}
	var factor mat.Cholesky
	return factor.Factorize(shifted) && factor.SolveVecTo(z, z) == nil
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
		floats.AddScaledTo(d.trial, d.v, t, d.step)
		d.evaluate(d.trial)
		slope := d.slope()
		if math.Abs(slope) <= 0.5*start {
			copy(d.v, d.trial)
			return true
		}
		if slope > 0 {
			low, t = t, 2*t
		} else {
			high = t
		}
		if !math.IsInf(high, 1) {
			t = low + (high-low)*math.Max(0.1, math.Min(0.5, start/(start-slope)))
		}
	}
	d.evaluate(d.v)
	return false
}

// expire asks for a new H, and a more exact one if not even a new one has helped.
func (d *dual) expire(stagnant int) {
	d.stored = nil
	switch {
	case stagnant > 0 && d.cutoff > lastCutoff:
		d.cutoff *= 1e-3
	case stagnant > 0:
		d.cutoff = 0
	}
}

func (d *dual) hessian() *mat.SymDense {
	m, n := len(d.v), len(d.live)
	sums := make([]float64, m*m)
	d.job.Sum(len(d.weights), sums, func(lo, hi int, dst []float64) {
		strong := make([]int, 0, m)
		for i := lo; i < hi; i++ {
			addCovariance(dst, d.p[i*m:(i+1)*m], d.weights[i], d.cutoff, strong)
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

// addCovariance adds s (diag(p) - p p') of a row to the lower half of h, but for products of labels up to the cutoff.
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
