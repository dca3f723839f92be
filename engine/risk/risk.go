// Package risk is the regularized risk of a linear two-class scorer as an objective for package minimize.
//
//	Problem  F(w) = α/2 |w|² + Σ_i a_i ξ(f_i) + b_i ξ(-f_i)
//	Symbols  f_i score of row i; a_i, b_i >= 0 what it costs row i to be placed as positive, negative (labeled rows
//	         have one of them, unlabeled rows p_i and 1-p_i of their weight); ξ the loss; α the strength of the
//	         regularization
//	Source   Sindhwani & Keerthi 2006, equations 1, 5 and 9: supervised, hard and soft labels are the same objective
//	         with other costs; each unlabeled row stands in the matrix once
//	Cost     Gradient: rows with a slope; Curve, HessianTimes: rows with curvature (the active set); Aim: rows with
//	         a cost
package risk

import (
	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Risk is the objective at a current point; it implements minimize.Objective.
type Risk struct {
	job   *work.Job
	rows  *csr.Matrix
	frame Frame
	loss  loss.Margin
	alpha float64

	Plus, Minus []float64 // [n] costs a, b; call Recost after a change

	weights      []float64 // [dim] w
	scores       []float64 // [n] f, for the rows with a cost
	step         []float64 // [dim] s: the line of Aim
	stepScores   []float64 // [n] change of f along it
	stepSquare   float64   // |s|²
	stepInner    float64   // w . s
	slope, curve []float64 // [n] of each row's loss at its score

	support, sloped, active *csr.Subset // rows with a cost, a slope, curvature

	heavy  *heavy
	factor *factor
}

// New makes the risk at w = 0 with all costs zero.
func New(job *work.Job, rows *csr.Matrix, frame Frame, margin loss.Margin, alpha float64) *Risk {
	n, dim := rows.Rows(), frame.dim(rows.Cols())
	r := &Risk{job: job, rows: rows, frame: frame, loss: margin, alpha: alpha}
	for _, v := range []*[]float64{&r.Plus, &r.Minus, &r.scores, &r.stepScores, &r.slope, &r.curve} {
		*v = make([]float64, n)
	}
	r.weights = make([]float64, dim)
	r.support, r.sloped, r.active = rows.Subset(nil), rows.Subset(nil), rows.Subset(nil)
	return r
}

// Dim is the number of variables.
func (r *Risk) Dim() int { return len(r.weights) }

// MoveTo moves the current point to f(x) = coef . x + intercept, as far as the frame has an intercept of its own. Call
// it before the first Recost.
func (r *Risk) MoveTo(coef []float64, intercept float64) {
	copy(r.weights, coef)
	if r.frame.Constant {
		last := len(r.weights) - 1
		r.weights[last] = 0
		r.weights[last] = intercept - r.frame.shift(r.job.Pool, r.weights)
	}
}

// Scores are f_i for the rows that have a cost.
func (r *Risk) Scores() []float64 { return r.scores }

// Change is how the scores change along the line of Aim, for the rows that have a cost.
func (r *Risk) Change() []float64 { return r.stepScores }

// Linear gives the classifier f(x) = coef . x + intercept at the current point.
func (r *Risk) Linear() (coef []float64, intercept float64) {
	return r.weights[:r.rows.Cols()], r.frame.offset(r.job.Pool, r.weights)
}

// Regularizer is α/2 |w|² at the current point.
func (r *Risk) Regularizer() float64 {
	return r.alpha / 2 * r.frame.inner(r.job.Pool, r.weights, r.weights)
}

// Recost takes notice of new costs. Rows that had no cost so far get their score (one pass over them).
func (r *Risk) Recost() {
	grown := false
	known := make([]bool, len(r.Plus))
	for _, i := range r.support.Rows() {
		known[i] = true
	}
	support := select32(len(r.Plus), func(i int) bool {
		has := r.Plus[i]+r.Minus[i] > 0
		grown = grown || has && !known[i]
		return has
	})
	if len(support) != len(r.support.Rows()) || grown {
		r.support.Reset(r.rows, support)
	}
	if grown {
		r.Rescore()
	}
}

// Rescore computes the scores anew from the weights and so ends the drift of many small steps.
func (r *Risk) Rescore() {
	r.times(r.support, r.scores, r.weights, r.frame.offset(r.job.Pool, r.weights))
}

// ScoreAll puts the scores of all rows, with and without a cost, into dst [n].
func (r *Risk) ScoreAll(dst []float64) {
	r.times(r.rows.All(), dst, r.weights, r.frame.offset(r.job.Pool, r.weights))
}

func (r *Risk) times(on *csr.Subset, dst, p []float64, shift float64) {
	r.job.Visit(int64(on.NonZeros()))
	r.rows.TimesOn(r.job, on, dst, p)
	rows := on.Rows()
	r.job.EachRow(len(rows), func(lo, hi int) {
		for _, i := range rows[lo:hi] {
			dst[i] += shift
		}
	})
}

// Value is F at the current point; no pass over the data.
func (r *Risk) Value() float64 {
	var total [1]float64
	rows := r.support.Rows()
	r.job.Sum(len(rows), total[:], func(lo, hi int, dst []float64) {
		for _, i := range rows[lo:hi] {
			v, _, _ := r.at(int(i), r.scores[i])
			dst[0] += v
		}
	})
	return r.Regularizer() + total[0]
}

// at is the loss of row i at score f: a ξ(f) + b ξ(-f), its slope and its curvature.
func (r *Risk) at(i int, f float64) (value, slope, curvature float64) {
	if a := r.Plus[i]; a > 0 {
		v, s, c := r.loss.At(f)
		value, slope, curvature = a*v, a*s, a*c
	}
	if b := r.Minus[i]; b > 0 {
		v, s, c := r.loss.At(-f)
		value, slope, curvature = value+b*v, slope-b*s, curvature+b*c
	}
	return value, slope, curvature
}

// Rows whose slope or curvature is below these shares of their cost are left out of products: the first is below the
// rounding of any stopping rule here, the second only shapes the Newton step, not the solution.
const (
	tinySlope     = 1e-12
	tinyCurvature = 1e-3
)

// Gradient implements minimize.Objective.
func (r *Risk) Gradient(dst []float64) float64 {
	var total [2]float64 // loss, Σ slope
	rows := r.support.Rows()
	r.job.Sum(len(rows), total[:], func(lo, hi int, dst []float64) {
		for _, i := range rows[lo:hi] {
			value, slope, curve := r.at(int(i), r.scores[i])
			cost := r.Plus[i] + r.Minus[i]
			if slope < tinySlope*cost && slope > -tinySlope*cost {
				slope = 0
			}
			if curve < tinyCurvature*cost {
				curve = 0
			}
			r.slope[i], r.curve[i] = slope, curve
			dst[0] += value
			dst[1] += slope
		}
	})
	r.sloped.Reset(r.rows, filter(r.sloped.Rows()[:0], rows, r.slope))
	shift, square := r.frame.open(r.job.Pool, dst, r.weights, r.alpha)
	r.job.Visit(int64(r.sloped.NonZeros()))
	r.rows.AddTransposedOn(r.job, r.sloped, dst, r.slope)
	r.frame.shut(r.job.Pool, dst, r.alpha, shift, total[1])
	return r.alpha/2*square + total[0]
}

// Curve implements minimize.Objective; it uses the curvature that Gradient found.
func (r *Risk) Curve() {
	r.active.Reset(r.rows, filter(r.active.Rows()[:0], r.support.Rows(), r.curve))
	if r.heavy != nil {
		r.factor = r.heavy.factor(r.alpha, func(place int) float64 { return r.curve[r.heavy.list[place]] })
	}
}

// HessianTimes implements minimize.Objective: α p + Σ h_i x_i (x_i . p), rows in the frame.
func (r *Risk) HessianTimes(dst, p []float64) (curvature float64) {
	shift, square := r.frame.open(r.job.Pool, dst, p, r.alpha)
	r.job.Visit(2 * int64(r.active.NonZeros()))
	total, curvature := r.rows.AddGram(r.job, r.active, dst, r.curve, p, shift)
	r.frame.shut(r.job.Pool, dst, r.alpha, shift, total)
	return r.alpha*square + curvature
}

// Gap implements minimize.Objective: F is strongly convex with modulus α, so F(w) - F(w*) <= |g|² / 2α.
func (r *Risk) Gap(gradient []float64) float64 {
	return r.frame.steepness(r.job.Pool, gradient) / (2 * r.alpha)
}

// Aim implements minimize.Objective.
func (r *Risk) Aim(s []float64) {
	r.step, r.stepSquare, r.stepInner = s, r.frame.inner(r.job.Pool, s, s), r.frame.inner(r.job.Pool, r.weights, s)
	r.times(r.support, r.stepScores, s, r.frame.shift(r.job.Pool, s))
}

// Along implements minimize.Objective.
func (r *Risk) Along(t float64) (slope, curvature float64) {
	var total [2]float64
	rows := r.support.Rows()
	r.job.Sum(len(rows), total[:], func(lo, hi int, dst []float64) {
		for _, i := range rows[lo:hi] {
			d := r.stepScores[i]
			_, s, c := r.at(int(i), r.scores[i]+t*d)
			dst[0] += s * d
			dst[1] += c * d * d
		}
	})
	return r.alpha*(r.stepInner+t*r.stepSquare) + total[0], r.alpha*r.stepSquare + total[1]
}

// Step implements minimize.Objective.
func (r *Risk) Step(t float64) {
	r.job.Stripes(len(r.step), func(lo, hi int) { vector.Add(r.weights[lo:hi], t, r.step[lo:hi]) })
	rows := r.support.Rows()
	r.job.EachRow(len(rows), func(lo, hi int) {
		for _, i := range rows[lo:hi] {
			r.scores[i] += t * r.stepScores[i]
		}
	})
}

func select32(n int, keep func(i int) bool) []int32 {
	var out []int32
	for i := range n {
		if keep(i) {
			out = append(out, int32(i))
		}
	}
	return out
}

// filter appends the rows whose value is not zero.
func filter(dst, rows []int32, value []float64) []int32 {
	for _, i := range rows {
		if value[i] != 0 {
			dst = append(dst, i)
		}
	}
	return dst
}
