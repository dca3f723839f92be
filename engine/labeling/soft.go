// Package labeling turns costs of labels into labels, hard or soft, that keep the class counts.
package labeling

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// SoftLabels finds the soft labels of deterministic annealing for any number of classes.
//
//	Problem  min over p >= 0  Σ s_i [ Σ_y p_iy c_iy + T Σ_y p_iy log p_iy ]
//	         subject to Σ_y p_iy = 1 for every row i and Σ_i s_i p_iy = r_y Σ_i s_i for every class y
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; p_iy soft label [n, m]; s_i weight of
//	         the row [n]; T > 0 temperature; r_y share of the class [m], scaled to sum to 1; v_y multiplier of its
//	         constraint, the potential [m]: p_iy is proportional to exp(-(c_iy - v_y) / T); q_y weighted mean of p_iy.
//	         The dual, concave in v, has the gradient r - q and the Hessian -H / T, H = mean of diag(p_i) - p_i p_i'
//	Source   Keerthi, Sundararajan & Shevade 2012 for the constraints. Sinkhorn's update v_y += T log(r_y / q_y) while
//	         it lowers the error threefold; then Newton's method on the dual (H + μ for H, μ proportional to the error),
//	         with a search for the zero of the slope along the step. Where that fails: through falling temperatures
//	Stops    max_y |q_y - r_y| <= tolerance (two classes: 1e-10), 8 steps without progress (rounding), 500 evaluations
//	Cost     an evaluation: n m exps; H: for each row the squared number of labels with p_iy > max(1e-3, m 1e-5), and
//	         m³/3. From potentials of a near temperature 3 to 20 evaluations and 0 to 3 times H, else up to hundreds
//
// A cost is +Inf where a row cannot have the class: p_iy = 0; each row has a class that it can have. It fills p and
// potentials, which are a first guess on entry, with mean 0. A class with share 0 has potential -Inf and p_iy = 0.
func SoftLabels(job *work.Job, p, costs, weights, shares, potentials []float64, temperature, tolerance float64) {
	if twoClasses(job, shares, len(weights)) {
		softTwo(job, p, costs, weights, potentials, temperature, shares[1]/(shares[0]+shares[1]))
		return
	}
	d := newDual(job, p, costs, weights, shares, potentials)
	d.temperature, d.tolerance = temperature, tolerance
	d.evaluate(d.v)
	if len(d.live) > 0 && d.weight > 0 {
		d.solveFromStarts()
	}
}

const (
	Exact           = 1e-9 // the smallest tolerance
	acceptable      = 1e-7 // an error that rounding may explain
	patience        = 8    // steps without progress
	budget          = 500  // evaluations from one start
	largestCooling  = 4    // factor between temperatures
	smallestCooling = 1.1
	coolTolerance   = 1e-3 // of shares, relative, at the temperatures in between
)

// dual is the concave dual of the soft labeling at one temperature.
type dual struct {
	job                       *work.Job
	p, costs, weights, shares []float64
	live                      []int // classes with a share
	temperature, tolerance    float64
	v                         []float64 // potentials
	weight                    float64   // Σ s
	q                         []float64 // means of p at the last evaluation
	step, trial, best         []float64
	evaluations               int           // since the start
	stored                    *mat.SymDense // H of the live classes, for several steps; nil: to be computed
	cutoff                    float64       // pairs of labels with a soft label up to this count as 0 in H
}

func newDual(job *work.Job, p, costs, weights, shares, potentials []float64) *dual {
	m, total := len(shares), vector.Sum(shares)
	d := &dual{job: job, p: p, costs: costs, weights: weights, shares: slices.Clone(shares), v: potentials,
		q: make([]float64, m), step: make([]float64, m), trial: make([]float64, m), best: make([]float64, m)}
	for y, share := range shares {
		d.shares[y] = math.Max(0, share) / total
		if share > 0 {
			d.live = append(d.live, y)
			d.v[y] = finiteOr0(d.v[y])
		} else {
			d.v[y] = math.Inf(-1)
		}
	}
	d.center(d.v)
	return d
}

func (d *dual) center(v []float64) {
	mean := 0.0
	for _, y := range d.live {
		mean += v[y]
	}
	for _, y := range d.live {
		v[y] -= mean / float64(len(d.live))
	}
}

// evaluate fills p and its means at the potentials v.
func (d *dual) evaluate(v []float64) {
	m := len(v)
	d.evaluations++
	sums := make([]float64, 1+m)
	d.job.Sum(len(d.weights), sums, func(lo, hi int, dst []float64) {
		atOnce := max(1, softAtOnce/m)
		for ; lo < hi; lo += atOnce {
			end := min(hi, lo+atOnce)
			soften(d.p[lo*m:end*m], d.costs[lo*m:end*m], v, d.temperature)
			for i := lo; i < end; i++ {
				s := d.weights[i]
				dst[0] += s
				vector.Add(dst[1:], s, d.p[i*m:(i+1)*m])
			}
		}
	})
	d.weight = sums[0]
	for y := range d.q {
		d.q[y] = sums[1+y] / d.weight
	}
}

// softAtOnce soft labels go through one loop after the other, so that they stay in the fastest memory.
const softAtOnce = 1024

// soften sets the rows of p proportional to exp(-(c - v) / T).
func soften(p, c, v []float64, temperature float64) {
	m, inverse := len(v), min(1/temperature, math.MaxFloat64)
	for at := 0; at < len(p); at += m {
		row, cost := p[at:at+m], c[at:at+m]
		top := math.Inf(-1)
		for y, potential := range v {
			z := potential - cost[y]
			if row[y] = z; z > top {
				top = z
			}
		}
		for y, z := range row {
			row[y] = (z - top) * inverse
		}
	}
	vector.Exp(p)
	for at := 0; at < len(p); at += m {
		vector.Scale(p[at:at+m], 1/vector.Sum(p[at:at+m]))
	}
}

// residual is the largest distance of a mean from its share; relative: in parts of the share.
func (d *dual) residual(relative bool) (largest float64) {
	for _, y := range d.live {
		distance := d.q[y] - d.shares[y]
		if relative {
			distance = d.q[y]/d.shares[y] - 1
		}
		largest = math.Max(largest, math.Abs(distance))
	}
	return largest
}

// solveFromStarts solves from the potentials on entry, then by cooling if need be, and keeps the better solution.
func (d *dual) solveFromStarts() {
	d.evaluations = 0
	d.solve(false, d.tolerance)
	first, residual := slices.Clone(d.v), d.residual(false)
	if residual <= max(acceptable, d.tolerance) {
		return
	}
	d.evaluations = 0
	d.solveByCooling()
	if cooled := d.residual(false); residual <= cooled || math.IsNaN(cooled) {
		d.moveTo(first)
	}
}

// moveTo evaluates at potentials, unless they are the ones of the last evaluation.
func (d *dual) moveTo(v []float64) {
	if !slices.Equal(d.v, v) {
		copy(d.v, v)
		d.evaluate(d.v)
	}
}

// solveByCooling solves at falling temperatures, each from where the two before point to: as T falls to 0 the
// potentials become linear in T. Where that does not lead to a solution T falls less.
func (d *dual) solveByCooling() {
	temperature, first := d.temperature, math.Max(d.temperature, d.spread())
	for _, y := range d.live {
		d.v[y] = 0
	}
	if !(first <= math.MaxFloat64) { // costs overflow: there is no temperature to begin with
		d.evaluate(d.v)
		return
	}
	last, solved := slices.Clone(d.v), slices.Clone(d.v) // potentials at the temperatures before and now
	before, now, factor := math.Inf(1), math.Inf(1), float64(largestCooling)
	for now > temperature {
		d.temperature = math.Max(temperature, min(first, now/factor))
		for _, y := range d.live {
			d.v[y] = solved[y]
			if !math.IsInf(before, 1) {
				d.v[y] += (solved[y] - last[y]) * (d.temperature - now) / (now - before)
			}
		}
		d.evaluate(d.v)
		d.solve(true, coolTolerance)
		failed := d.residual(true) > coolTolerance && d.evaluations < budget
		if failed && factor > smallestCooling && !math.IsInf(now, 1) {
			factor = math.Sqrt(factor)
			continue
		}
		last, solved = solved, slices.Clone(d.v)
		before, now, factor = now, d.temperature, math.Min(largestCooling, factor*factor)
	}
	d.solve(false, d.tolerance)
}

// spread is the mean cost of a row's labels beyond its best one.
func (d *dual) spread() float64 {
	m := len(d.v)
	var sum [1]float64
	d.job.SumRows(len(d.weights), 0, sum[:], func(i int, dst, _ []float64) {
		row, best, excess := d.costs[i*m:(i+1)*m], math.Inf(1), 0.0
		for _, y := range d.live {
			best = math.Min(best, row[y])
		}
		for _, y := range d.live {
			if !math.IsInf(row[y], 1) {
				excess += row[y] - best
			}
		}
		dst[0] += d.weights[i] * excess
	})
	return sum[0] / d.weight / float64(len(d.live))
}

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
	if d.stored == nil {
		d.stored = d.hessian()
	}
	n, mu := len(d.live), d.residual(false)/longest
	shifted, x := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	shifted.CopySym(d.stored)
	for k, y := range d.live {
		shifted.SetSym(k, k, shifted.At(k, k)+mu)
		x.SetVec(k, d.shares[y]-d.q[y])
	}
	var factor mat.Cholesky
	if !factor.Factorize(shifted) || factor.SolveVecTo(x, x) != nil { // rounding
		return false
	}
	for k, y := range d.live {
		d.step[y] = d.temperature * x.AtVec(k)
	}
	d.center(d.step)
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

// negligible soft labels add less than 1e-10 bits each.
const negligible = 1e-12

// Entropy of soft labels of a row, in bits.
func Entropy(row []float64) (bits float64) {
	for _, q := range row {
		if q > negligible && q < 1 {
			bits -= q * math.Log2(q)
		}
	}
	return bits
}
