// Package dual solves the support vector machine with hinge or squared hinge loss in its dual, one coordinate at a
// time.
//
//	Problem  min over w  ½ |w|² + Σ_i C_i ξ_i(y_i f_i), ξ(t) = max(0, 1-t) or ½ max(0, 1-t)²; its dual
//	         max over β  Σ_i β_i (1 - y_i m) - ½ |w|² [- Σ_i β_i² / (2 C_i) squared hinge], 0 <= β_i [<= C_i hinge],
//	         with w = Σ_i β_i y_i z_i, where z_i is row i in its frame and m the frame's fixed mean score
//	Symbols  β_i dual of row i; C_i its cost; y_i = ±1; G_i = y_i f_i - 1 [+ β_i / C_i] the dual's gradient
//	Source   Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, algorithms 1 and 3 (shrinking). Differences: stops by the
//	         duality gap; labels and costs may change between calls while β and w stay
//	Stops    (primal - dual) <= Tolerance primal; the number of epochs
//	Cost     an epoch: two readings of each row that is not shrunk
package dual

import (
	"math"
	"math/rand/v2"

	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Descent holds the duals and the weights between calls.
type Descent struct {
	job     *work.Job
	rows    *rows.Matrix
	frame   risk.Frame
	mean    float64 // m, fixed mean score of the frame
	squared bool
	random  *rand.Rand

	Sign   []float64 // [n] y, ±1; read only: see Relabel
	Cost   []float64 // [n] C >= 0; rows of cost 0 take no part
	beta   []float64 // [n]
	square []float64 // [n] |z_i|²
	active []int32   // rows with a cost, in changing order

	sparse        []float64 // [d] Σ β y x
	total         float64   // Σ β y
	centerRow     []float64 // [n] x_i . μ, in a centred frame
	centerWeights float64   // μ . sparse
	centerSquare  float64   // |μ|²
}

// New makes a descent at β = 0 with all costs 0.
func New(job *work.Job, rows *rows.Matrix, frame risk.Frame, squared bool, seed int) *Descent {
	n := rows.Rows()
	d := &Descent{job: job, rows: rows, frame: frame, squared: squared,
		random: rand.New(rand.NewPCG(uint64(seed), 0)), sparse: make([]float64, rows.Cols())}
	for _, v := range []*[]float64{&d.Sign, &d.Cost, &d.beta, &d.square} {
		*v = make([]float64, n)
	}
	scratch := make([]float64, rows.Cols())
	for i := range n {
		d.square[i] = rows.SquaredNorm(i, scratch)
	}
	job.CountAndCheck(2 * int64(rows.NonZeros()))
	if frame.Mean != nil {
		d.mean = frame.Mean[0]
	}
	if frame.Center != nil {
		d.prepareCenter()
	}
	if frame.Constant {
		for i := range d.square {
			d.square[i]++
		}
	}
	return d
}

func (d *Descent) prepareCenter() {
	d.centerRow = make([]float64, len(d.beta))
	d.job.CountAndCheck(int64(d.rows.NonZeros()))
	d.rows.Times(d.job, d.centerRow, d.frame.Center)
	for _, mu := range d.frame.Center {
		d.centerSquare += mu * mu
	}
	for i := range d.square {
		d.square[i] = math.Max(0, d.square[i]+(d.centerSquare-2*d.centerRow[i])) // rounding: the row may be the center
	}
}

// Score is f_i at the current weights.
func (d *Descent) Score(i int32) float64 {
	f := d.rows.RowTimes(int(i), d.sparse) + d.mean
	switch {
	case d.frame.Constant:
		f += d.total
	case d.frame.Center != nil:
		f += d.total*(d.centerSquare-d.centerRow[i]) - d.centerWeights
	}
	return f
}

// Linear gives the classifier f(x) = coef . x + intercept.
func (d *Descent) Linear() (coef []float64, intercept float64) {
	coef = append([]float64(nil), d.sparse...)
	switch {
	case d.frame.Constant:
		intercept = d.total
	case d.frame.Center != nil:
		for j, mu := range d.frame.Center {
			coef[j] -= d.total * mu
		}
		intercept = d.total*d.centerSquare - d.centerWeights + d.mean
	}
	return coef, intercept
}

// Square is |w|², the weight of a constant feature included.
func (d *Descent) Square() float64 {
	total := 0.0
	for _, v := range d.sparse {
		total += v * v
	}
	switch {
	case d.frame.Constant:
		total += d.total * d.total
	case d.frame.Center != nil:
		total += d.total * (d.total*d.centerSquare - 2*d.centerWeights)
	}
	return total
}

// Relabel gives row i another sign; its dual starts again from 0.
func (d *Descent) Relabel(i int32, sign float64) {
	if d.Sign[i] == sign {
		return
	}
	d.change(i, 0)
	d.Sign[i] = sign
}

// change sets β_i and keeps the weights in step.
func (d *Descent) change(i int32, beta float64) {
	if beta == d.beta[i] {
		return
	}
	scale := (beta - d.beta[i]) * d.Sign[i]
	d.beta[i] = beta
	d.rows.AddRow(int(i), scale, d.sparse)
	d.total += scale
	if d.frame.Center != nil {
		d.centerWeights += scale * d.centerRow[i]
	}
}

// Resume sets the duals of the rows with a cost to what a solution with these scores [n] would have: the cost times the
// slack with the squared hinge, the cost where there is slack with the hinge, which leaves open those at the margin.
func (d *Descent) Resume(scores []float64) {
	for i, cost := range d.Cost {
		if slack := 1 - d.Sign[i]*scores[i]; cost > 0 && slack > 0 {
			if !d.squared {
				slack = 1
			}
			d.change(int32(i), cost*slack)
		}
	}
	d.job.CountAndCheck(int64(d.rows.NonZeros()))
}

// Solve runs at most epochs epochs and returns the primal objective and its gap; both are measured, and the tolerance
// looked at, after each epoch that has met the current rows' conditions well.
func (d *Descent) Solve(tolerance float64, epochs int) (primal, gap float64) {
	d.gather()
	violation := newBounds()
	live := len(d.active)
	checkAt := 1.0
	for epoch := 1; ; epoch++ {
		worst := d.epoch(&live, &violation)
		d.job.Check()
		last := epoch >= epochs
		if worst > checkAt && !last {
			continue
		}
		primal, gap = d.Gap()
		if gap <= tolerance*primal || last {
			return primal, gap
		}
		checkAt = worst / 2
		if live < len(d.active) {
			live, violation = len(d.active), newBounds()
		}
	}
}

// gather lists the rows with a cost and brings their duals inside the box.
func (d *Descent) gather() {
	d.active = d.active[:0]
	for i, cost := range d.Cost {
		if cost > 0 {
			d.active = append(d.active, int32(i))
			if !d.squared && d.beta[i] > cost {
				d.change(int32(i), cost)
			}
		}
	}
}

// bounds are the largest and smallest projected gradient of an epoch; of the epoch before they decide what is shrunk.
type bounds struct{ high, low float64 }

func newBounds() bounds { return bounds{math.Inf(1), math.Inf(-1)} }

// epoch visits the first *live active rows once in random order, shrinks rows that sit firmly at a bound, and returns
// the spread of the projected gradients.
func (d *Descent) epoch(live *int, limit *bounds) float64 {
	seen := bounds{math.Inf(-1), math.Inf(1)}
	d.random.Shuffle(*live, func(a, b int) { d.active[a], d.active[b] = d.active[b], d.active[a] })
	visited := 0
	for k := 0; k < *live; k++ {
		i := d.active[k]
		visited++
		gradient, top, curvature := d.gradient(i), d.Cost[i], d.square[i]
		if d.squared {
			gradient += d.beta[i] / d.Cost[i]
			curvature += 1 / d.Cost[i]
			top = math.Inf(1)
		}
		projected := gradient
		if d.beta[i] == 0 && gradient > 0 || d.beta[i] == top && gradient < 0 {
			projected = 0
			if gradient > math.Max(limit.high, 0) && d.beta[i] == 0 || gradient < math.Min(limit.low, 0) && d.beta[i] == top {
				*live--
				d.active[k], d.active[*live] = d.active[*live], d.active[k]
				k--
				continue
			}
		}
		seen.high, seen.low = math.Max(seen.high, projected), math.Min(seen.low, projected)
		switch {
		case projected == 0:
		case curvature > 0:
			d.change(i, math.Min(math.Max(d.beta[i]-gradient/curvature, 0), top))
		case gradient < 0: // a row that is zero in its frame: its margin never changes
			d.change(i, top)
		default:
			d.change(i, 0)
		}
	}
	d.job.CountAndCheck(2 * int64(visited) * int64(d.rows.NonZeros()) / int64(len(d.beta)))
	*limit = bounds{seen.high, seen.low}
	if seen.high <= 0 {
		limit.high = math.Inf(1)
	}
	if seen.low >= 0 {
		limit.low = math.Inf(-1)
	}
	if *live == 0 {
		return 0
	}
	return seen.high - seen.low
}

func (d *Descent) gradient(i int32) float64 { return d.Sign[i]*d.Score(i) - 1 }

// Gap is the primal objective at the current weights and its distance from the dual objective: one pass.
func (d *Descent) Gap() (primal, gap float64) {
	square := d.Square()
	primal, dual := square/2, -square/2
	for _, i := range d.active {
		slack := math.Max(0, 1-d.Sign[i]*d.Score(i))
		dual += d.beta[i] * (1 - d.Sign[i]*d.mean)
		if d.squared {
			primal += d.Cost[i] * slack * slack / 2
			dual -= d.beta[i] * d.beta[i] / (2 * d.Cost[i])
		} else {
			primal += d.Cost[i] * slack
		}
	}
	d.job.CountAndCheck(int64(len(d.active)) * int64(d.rows.NonZeros()) / int64(len(d.beta)))
	return primal, primal - dual
}
