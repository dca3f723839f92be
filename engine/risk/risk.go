// Package risk is the regularized risk of a linear scorer as an objective for package minimize.
//
//	Problem  F(W) = α/2 |W|² + Σ_i c_i Σ_y p_iy ξ(s_i, y),  s_i = M Wᵀ x_i
//	Symbols  x_i row i in a Frame, by which scores get their intercepts; W weights of every column; M the map of
//	         package scores; s_i class scores [K]; p_iy what class y counts for row i: a given or found label, or soft
//	         labels; c_i >= 0 weight of the row; ξ the loss; α strength of the regularization
//	Source   Sindhwani & Keerthi 2006, equations 1, 5 and 9: supervised, hard and soft labels are the same objective
//	         with other p; Keerthi, Sundararajan & Shevade 2012, equations 1 and 2: the weights of all classes at once.
//	         Each unlabeled row stands in the matrix once
//	Cost     Gradient: rows with a slope; HessVec: rows with curvature (the active set); SetDirection: rows with a
//	         weight. A product reads each such row once for every 32 columns
package risk

import (
	"runtime"
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Risk is the objective at a current point: what rows and weights give each other, losses of rows, the preconditioner.
type Risk struct {
	*losses
	preconditioner *preconditioner           // or nil
	solver         *panel.ConjugateGradients // nil before the first Direction

	Weights, direction []float64    // [shape] W, the current point; that of SetDirection
	squareNorm, inner  float64      // of the direction: |d|², W . d
	support            *rows.Subset // rows with a weight
	withSlope, active  *rows.Subset // of these, rows with a slope, with curvature
	rounded, drifted   bool         // see Approximate; scores were moved by rounded changes
}

// Rows whose slope or curvature is below these shares of their weight are left out of products: the first is below the
// rounding of any stopping rule here, the second only shapes the Newton step, not the solution.
const (
	tinySlope     = 1e-12
	tinyCurvature = 1e-3

	hasSlope     = 1
	hasCurvature = 2
)

// New makes the risk at W = 0, no row with a weight.
func New(job *work.Job, rows *rows.Matrix, m *scores.Tree, l loss.Classes, f Frame, alpha float64) *Risk {
	shape := panel.Shape{Features: rows.Cols(), Classes: m.Columns()}
	if f.Constant {
		shape.Features++
	}
	n, stride := rows.Rows(), shape.Stride()
	of := &losses{linear: &linear{job, rows, rows.Rounded(shape), m, f, shape, stride, alpha},
		Cost: make([]float64, n), Label: make([]int32, n), Place: make([]int32, n), activity: make([]uint8, n),
		Scores: make([]float64, n*stride), changes: make([]float64, n*stride), state: make([]float64, n*stride)}
	of.SetLoss(l)
	return &Risk{losses: of, Weights: make([]float64, shape.Len()), support: rows.Subset(nil),
		withSlope: rows.Subset(nil), active: rows.Subset(nil)}
}

func (r *Risk) Dim() int { return len(r.Weights) }

// MoveTo moves the current point to the outputs coef_y . x + intercept_y, as far as the frame has intercepts of its
// own; coef [d, outputs]. Call it before UpdateSupport.
func (r *Risk) MoveTo(coef, intercept []float64) {
	outputs, columns := r.Map.Outputs(), make([]float64, r.Map.Columns())
	values := slices.Concat(coef, intercept)
	for j := range r.shape.Features {
		r.Map.Split(columns, values[j*outputs:(j+1)*outputs])
		for v, w := range columns {
			r.Weights[r.shape.At(j, v)] = w
		}
	}
	if r.coupledIntercepts() { // the last feature's weight is the score of the center
		shift := r.shift(r.Weights)
		for v := range columns {
			r.Weights[r.last(v)] += r.Weights[r.last(v)] - shift[v]
		}
	}
}

// UpdateSupport adds the rows that have got a weight, and computes their scores.
func (r *Risk) UpdateSupport() {
	support := make([]int32, 0, len(r.Cost))
	for i, cost := range r.Cost {
		if cost > 0 {
			support = append(support, int32(i))
		}
	}
	if !slices.Equal(support, r.support.Rows()) {
		r.support.Reset(r.rows, support)
		r.score(r.support)
	}
}

// score computes the scores of some rows at the current point.
func (r *Risk) score(on *rows.Subset) {
	r.times(on, r.Scores, r.Weights, r.shift(r.Weights), r.frame.Mean, false)
}

func (r *Risk) Gradient(dst []float64) float64 {
	joint, sums := r.gradients()
	shift := r.beginProduct(dst, r.Weights)
	square := r.dot(r.Weights, r.Weights, shift, shift)
	r.job.CountAndCheck(int64(r.withSlope.NonZeros()))
	if r.rounded {
		r.rounding.AddTransposed(r.job, r.withSlope, dst, r.slopes(), vector.Max(r.Cost))
	} else {
		r.rows.AddTransposedPanels(r.job, r.withSlope, dst, r.slopes(), r.shape)
	}
	r.finishProduct(dst, r.alpha, shift, sums[1:])
	return r.alpha/2*square + sums[0] + joint
}

// At implements minimize.Smooth: it moves the current point to w, which holds it from now on.
func (r *Risk) At(w, gradient []float64) float64 {
	r.Weights = w
	r.score(r.support)
	return r.Gradient(gradient)
}

// gradients puts each row's gradient into r.slopes(), finds the rows with a slope and the preconditioner's curvatures,
// and returns the joint cost, and loss and sums of the gradients, of all machines after the next reduction.
func (r *Risk) gradients() (joint float64, sums []float64) {
	rows := r.support.Rows()
	if r.Joint != nil {
		joint = r.Joint.Gradient(r.Scores, r.slopes(), r.state)
	}
	sums = make([]float64, 1+r.Stride)
	r.job.Total(len(rows), sums, func(lo, hi int, part []float64) { r.terms.gradient(rows[lo:hi], part) })
	r.job.ReduceDeferred(sums)
	r.preconditioner.findCurves()
	r.withSlope.Reset(r.rows, r.rowsWith(r.withSlope, hasSlope))
	return joint, sums
}

// rowsWith are the rows with a weight and this activity, in the memory of a subset.
func (r *Risk) rowsWith(in *rows.Subset, activity uint8) []int32 {
	list, count := slices.Grow(in.Rows()[:0], len(r.support.Rows()))[:len(r.support.Rows())], 0
	for _, i := range r.support.Rows() { // without a branch: which rows are active cannot be foreseen
		list[count] = i
		count += int(r.activity[i]&activity+1) >> 1 // of 1 or 2
	}
	return list[:count]
}

// Gap implements minimize.Objective: F is strongly convex with modulus α, so F(W) - F(W*) <= |g|² / 2α.
func (r *Risk) Gap(gradient []float64) float64 {
	return r.gradientNorm(gradient) / (2 * r.alpha)
}

// Direction implements minimize.Objective.
func (r *Risk) Direction(g []float64, eta float64) (slope float64) {
	if r.solver == nil {
		r.solver = panel.NewConjugateGradients(r.Dim(), r.job.Pool)
	}
	r.UpdateHessian()
	r.job.Stripes(len(g), func(lo, hi int) { vector.Scale(g[lo:hi], -1) })
	r.SetDirection(r.solver.Solve(r, g, eta, maxConjugateSteps))
	return -r.solver.Inner()
}

const maxConjugateSteps = 250

// UpdateHessian fixes the generalized Hessian, by the curvature that Gradient found.
func (r *Risk) UpdateHessian() {
	r.active.Reset(r.rows, r.rowsWith(r.active, hasCurvature))
	r.preconditioner.factorize()
}

// HessVec implements panel.Operator: α p + Σ_i (Mᵀ H_i M (x_i . p)) x_i over the active rows, in the frame.
func (r *Risk) HessVec(dst, p []float64) {
	shift := r.beginProduct(dst, p)
	product := r.product
	switch {
	case r.mayRound():
		product = r.roundedProduct
	case len(shift) == 1 && r.Joint == nil:
		product = r.gram
	}
	r.finishProduct(dst, r.alpha, shift, product(dst, p, shift))
}

// Columns implements panel.Operator: a loss that is a sum over flat classes has a Hessian for each of them.
func (r *Risk) Columns() panel.Shape {
	if _, sum := r.Loss.(loss.OneAgainstRest); sum && r.Map.Flat() && r.Joint == nil {
		return r.shape
	}
	return panel.Shape{Features: r.Dim(), Classes: 1}
}

// SetDirection prepares the line w + t s.
func (r *Risk) SetDirection(direction []float64) {
	shift, own := r.shift(direction), r.shift(r.Weights)
	r.direction = direction
	r.squareNorm = r.dot(direction, direction, shift, shift)
	r.inner = r.dot(r.Weights, direction, own, shift)
	r.times(r.support, r.changes, direction, shift, nil, r.rounded)
}

// Line implements minimize.Objective: the value is less α/2 |W|² at the line's beginning.
func (r *Risk) Line(t float64) (value, slope, curvature float64) {
	total, rows := make([]float64, 3), r.support.Rows()
	r.job.Sum(len(rows), total, func(lo, hi int, part []float64) { r.terms.line(rows[lo:hi], t, part) })
	if r.Joint != nil {
		value, slope, curvature = r.Joint.Line(r.Scores, r.changes, t)
	}
	value += r.alpha*t*(r.inner+t/2*r.squareNorm) + total[0]
	return value, slope + r.alpha*(r.inner+t*r.squareNorm) + total[1], curvature + r.alpha*r.squareNorm + total[2]
}

func (r *Risk) Step(t float64) {
	r.drifted = r.drifted || r.rounded
	r.job.Stripes(len(r.direction), func(lo, hi int) { vector.Add(r.Weights[lo:hi], t, r.direction[lo:hi]) })
	stride, rows := r.Stride, r.support.Rows()
	r.job.Every(len(rows), func(k int) {
		at := int(rows[k]) * stride
		vector.Add(r.Scores[at:at+stride], t, r.changes[at:])
	})
}

// gram adds the rows' part of HessVec for one column to dst; it returns the sums of the rows' multipliers.
func (r *Risk) gram(dst, p, shift []float64) (total []float64) {
	r.job.CountAndCheck(2 * int64(r.active.NonZeros()))
	return []float64{r.rows.AddGram(r.job, r.active, dst, r.state, p, shift[0])}
}

// product is gram for any number of columns.
func (r *Risk) product(dst, p, shift []float64) (total []float64) {
	rows := r.active.Rows()
	r.times(r.active, r.changes, p, shift, nil, false)
	if r.Joint != nil {
		r.Joint.HessVec(r.changes, r.slopes(), r.state)
	}
	total = make([]float64, r.Stride)
	r.job.Total(len(rows), total, func(lo, hi int, part []float64) { r.hessVecs(rows[lo:hi], part) })
	r.job.ReduceDeferred(total)
	r.job.CountAndCheck(int64(r.active.NonZeros()))
	r.rows.AddTransposedPanels(r.job, r.active, dst, r.changes, r.shape)
	return total
}

// roundedProduct is product, rounded: it reads the rows once.
func (r *Risk) roundedProduct(dst, p, shift []float64) (total []float64) {
	total = make([]float64, r.Stride)
	r.job.CountAndCheck(2 * int64(r.active.NonZeros()))
	r.rounding.AddGram(r.job, r.active, dst, r.changes, p, total, vector.Max(r.Cost),
		func(rows []int32, sums []float64) {
			r.completeRows(rows, r.changes, shift, nil)
			r.hessVecs(rows, sums)
		})
	return total
}

// Approximate implements minimize.Objective: where rows.Matrix has rounded products, these are taken. Scores are
// computed anew as soon as products have to be exact. Those of HessVec never have to be: they only shape the step.
func (r *Risk) Approximate(allowed bool) bool {
	r.rounded = allowed && r.mayRound()
	if r.drifted && !r.rounded {
		r.score(r.support)
	}
	r.drifted = r.drifted && r.rounded
	return r.rounded
}

func (r *Risk) mayRound() bool { return r.Joint == nil && r.rounding != nil }

// Regularizer is α/2 |W|² at the current point.
func (r *Risk) Regularizer() float64 {
	shift := r.shift(r.Weights)
	return r.alpha / 2 * r.dot(r.Weights, r.Weights, shift, shift)
}

// largeVector is the number of variables from which on memory counts.
const largeVector = 1 << 18

// Read gives the outputs coef_y . x + intercept_y at the current point, for the last time, and those of all rows
// [n, outputs]; coef [features, outputs], feature j stands at number[j].
func (r *Risk) Read(number []int32, features int) (coef, intercept, outputs []float64) {
	k := r.Map.Outputs()
	r.preconditioner, r.solver, r.direction = nil, nil, nil // the results are as large
	r.slope, r.state, r.changes = nil, nil, nil
	if int64(r.Dim()) > largeVector {
		runtime.GC()
	}
	r.score(r.rows.All())
	outputs = r.Scores[:0]
	for row := range slices.Chunk(r.Scores, r.Stride) {
		outputs = append(outputs, row[:k]...)
	}
	return r.coef(r.Weights, number, features), r.intercepts(r.Weights), outputs
}
