package risk

import (
	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/taxonomy"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Classes is the regularized risk of a linear scorer of many classes at a current point; it implements
// minimize.Objective.
//
//	Problem  F(W) = α/2 |W|² + Σ_i c_i Σ_y p_iy ξ(s_i, y)
//	Symbols  W weights of every node of the class tree (of every class, without a tree); z_iv = w_v . x_i + b_v score
//	         of node v; s_i class scores, sums of z along the paths; p_iy what class y counts for row i: a given or
//	         found label, or soft labels; c_i weight of the row; ξ the loss; α strength of the regularization
//	Source   Keerthi, Sundararajan & Shevade 2012, equations 1 and 2: all weights at once, each unlabeled row once
//	Cost     every product reads each row with a cost once for every eight nodes
type Classes struct {
	job   *work.Job
	rows  *csr.Matrix
	tree  *taxonomy.Tree
	frame wideFrame
	shape csr.Wide // of the weights
	alpha float64

	Loss loss.Classes
	Cost []float64 // [n] c; call Recost after a change
	// The classes of the rows: Label [n] where it is 0 or more, otherwise the soft labels Soft [·, K] at Place [n].
	Label []int32
	Place []int32
	Soft  []float64
	Means []float64 // [K] added to every score: the mean scores, with a center and no constant feature; or nil
	Joint Joint     // cost of the rows with Label Jointly, whose Cost only has to be above 0; or nil

	weights, step         []float64 // [shape] W; the line of Aim, in coefficients of rows where there are sums
	scores, stepScores    []float64 // [n, stride] class scores first; their change along the line
	slope, curve          []float64 // [n, stride] of each row's loss; what its Bend needs
	stepSquare, stepInner float64   // |step|², W . step
	support               *csr.Subset
	sums                  *sums // how W is held in place of weights, or nil

	heavy     *heavy
	heavyRows *csr.Subset
	factors   []*factor   // see systems
	curves    [][]float64 // [heavy, stride] curvature of the heavy rows
}

// NewClasses makes the risk at W = 0, all costs zero. A center recentres the constant feature, see Frame. Weights may
// be held as sums of rows: a matter of time and memory, not of the result.
func NewClasses(
	job *work.Job, rows *csr.Matrix, tree *taxonomy.Tree, constant bool, center []float64, alpha float64, inRows bool,
) *Classes {
	shape := csr.Wide{Features: rows.Cols(), Classes: tree.Nodes()}
	if constant && !inRows {
		shape.Features++
	}
	r := &Classes{job: job, rows: rows, tree: tree, alpha: alpha, shape: shape,
		frame: wideFrame{constant: constant, center: center, shape: shape}}
	n := rows.Rows()
	r.Cost, r.Label, r.Place = make([]float64, n), make([]int32, n), make([]int32, n)
	for _, v := range []*[]float64{&r.scores, &r.slope, &r.curve} {
		*v = make([]float64, n*shape.Stride())
	}
	if inRows {
		r.sums = r.newSums()
	} else {
		r.weights, r.stepScores = make([]float64, shape.Len()), make([]float64, n*shape.Stride())
	}
	r.support = rows.Subset(nil)
	return r
}

// Dim is the number of variables, or of coefficients.
func (r *Classes) Dim() int {
	if r.sums != nil {
		return len(r.sums.coef)
	}
	return len(r.weights)
}

// MoveTo moves the current point to the class scores s_y(x) = coef_y . x + intercept_y, as far as the frame has
// intercepts of its own; coef [d, K] as Linear gives it. Call it before the first Recost.
func (r *Classes) MoveTo(coef, intercept []float64) {
	classes, features := r.tree.Classes(), r.frame.features()
	nodes, last := make([]float64, r.tree.Nodes()), make([]float64, r.shape.Stride())
	put := func(j int, scores []float64) {
		r.tree.Split(nodes, scores)
		for v, w := range nodes {
			r.weights[r.shape.At(j, v)] = w
		}
	}
	for j := range features {
		put(j, coef[j*classes:(j+1)*classes])
	}
	if !r.frame.constant {
		return
	}
	put(features, intercept)
	if r.frame.center != nil { // the last feature's weight is the score of the center
		r.frame.shift(r.job.Pool, last, r.weights)
		for v := range nodes {
			at := r.shape.At(features, v)
			r.weights[at] += r.weights[at] - last[v]
		}
	}
}

// Score is row i's class scores [K] at the current point, for a row that has a cost.
func (r *Classes) Score(i int32) []float64 {
	stride := r.shape.Stride()
	return r.scores[int(i)*stride : int(i)*stride+r.tree.Classes()]
}

// Recost takes notice of new costs and computes all scores.
func (r *Classes) Recost() {
	r.support.Reset(r.rows, select32(len(r.Cost), func(i int) bool { return r.Cost[i] > 0 || r.summed(i) }))
	weights, shift := r.linear()
	r.times(r.support, r.scores, weights, shift, r.Means)
}

// linear gives the weights [shape] of every node and its intercept [stride] without Means at the current point.
func (r *Classes) linear() (weights, shift []float64) {
	shift = make([]float64, r.shape.Stride())
	if r.sums != nil {
		r.weigh(shift)
		return r.sums.features, shift
	}
	r.frame.shift(r.job.Pool, shift, r.weights)
	return r.weights, shift
}

// times puts the class scores along p into dst; shift is that of p, and means [K] is added, or nil.
func (r *Classes) times(on *csr.Subset, dst, p, shift, means []float64) {
	r.job.Visit(int64(on.NonZeros()))
	r.rows.TimesWide(r.job, on, dst, p, r.shape)
	stride, rows := r.shape.Stride(), on.Rows()
	r.job.EachRow(len(rows), func(lo, hi int) {
		for _, i := range rows[lo:hi] {
			row := dst[int(i)*stride : (int(i)+1)*stride]
			vector.Add(row, 1, shift)
			r.tree.Down(row)
			for y, m := range means {
				row[y] += m
			}
		}
	})
}

// target is what each class counts for row i; certain [K] is written where the label is certain.
func (r *Classes) target(i int32, certain []float64) []float64 {
	if y := r.Label[i]; y >= 0 {
		clear(certain)
		certain[y] = 1
		return certain
	}
	k := len(certain)
	return r.Soft[int(r.Place[i])*k : (int(r.Place[i])+1)*k]
}

// Gradient implements minimize.Objective.
func (r *Classes) Gradient(dst []float64) float64 {
	sums, shift := r.slopes(), make([]float64, r.shape.Stride())
	square := r.frame.open(r.job.Pool, dst, r.weights, r.alpha, shift)
	r.addTransposed(dst, r.slope)
	r.frame.shut(r.job.Pool, dst, r.alpha, shift, sums[1:])
	return r.alpha/2*square + sums[0]
}

// slopes puts the slope of each row's loss in the score of every node into r.slope, and returns the loss and the sums
// of the slopes.
func (r *Classes) slopes() (sums []float64) {
	stride, classes, rows := r.shape.Stride(), r.tree.Classes(), r.support.Rows()
	together := r.jointly(func(j Joint) float64 { return j.Gradient(r.scores, r.slope, r.curve) })
	sums = make([]float64, 1+stride)
	r.job.Sum(len(rows), sums, func(lo, hi int, part []float64) {
		certain := make([]float64, classes)
		for _, i := range rows[lo:hi] {
			slope := r.slope[int(i)*stride : (int(i)+1)*stride]
			clear(slope[classes:])
			if r.Label[i] != Jointly {
				part[0] += r.steepen(i, slope[:classes], certain)
			}
			r.tree.Up(slope)
			vector.Add(part[1:], 1, slope)
		}
	})
	sums[0] += together
	return sums
}

// steepen puts the gradient of row i's own loss into slope [K] and returns the loss.
func (r *Classes) steepen(i int32, slope, certain []float64) float64 {
	at, classes := int(i)*r.shape.Stride(), len(slope)
	value := r.Loss.At(r.scores[at:at+classes], r.target(i, certain), slope, r.curve[at:at+classes])
	for y := range slope {
		slope[y] *= r.Cost[i]
	}
	return r.Cost[i] * value
}

func (r *Classes) addTransposed(dst, q []float64) {
	r.job.Visit(int64(r.support.NonZeros()))
	r.rows.AddTransposedWide(r.job, r.support, dst, q, r.shape)
}

// Gap implements minimize.Objective: F is strongly convex with modulus α.
func (r *Classes) Gap(gradient []float64) float64 {
	return r.frame.steepness(r.job.Pool, gradient) / (2 * r.alpha)
}

// HessianTimes implements minimize.Objective.
func (r *Classes) HessianTimes(dst, p []float64) (curvature float64) {
	stride, rows := r.shape.Stride(), r.support.Rows()
	shift := make([]float64, stride)
	square := r.frame.open(r.job.Pool, dst, p, r.alpha, shift)
	changes := r.stepScores // free until Aim
	r.times(r.support, changes, p, shift, nil)
	together := r.jointly(func(j Joint) float64 { return j.Bend(changes, r.slope, r.curve) })
	sums := make([]float64, 1+stride) // pᵀ Xᵀ H X p, Σ of the bent changes
	r.job.Sum(len(rows), sums, func(lo, hi int, part []float64) {
		certain, bent := make([]float64, r.tree.Classes()), make([]float64, stride)
		for _, i := range rows[lo:hi] {
			change := changes[int(i)*stride : (int(i)+1)*stride]
			if r.Label[i] == Jointly {
				clear(change[len(certain):])
			} else {
				part[0] += r.bend(i, bent, change, certain)
				copy(change, bent)
			}
			r.tree.Up(change)
			vector.Add(part[1:], 1, change)
		}
	})
	r.addTransposed(dst, changes)
	r.frame.shut(r.job.Pool, dst, r.alpha, shift, sums[1:])
	return r.alpha*square + sums[0] + together
}

// bend puts row i's curvature times a change of its class scores into dst [stride], zero for inner nodes, and returns
// the curvature along the change.
func (r *Classes) bend(i int32, dst, change, certain []float64) float64 {
	at, classes := int(i)*r.shape.Stride(), len(certain)
	clear(dst[classes:])
	r.Loss.Bend(dst[:classes], change[:classes], r.target(i, certain), r.curve[at:at+classes])
	for y := range dst[:classes] {
		dst[y] *= r.Cost[i]
	}
	return vector.Dot(dst[:classes], change[:classes])
}

// Aim implements minimize.Objective.
func (r *Classes) Aim(step []float64) {
	stride := r.shape.Stride()
	shift, own := make([]float64, stride), make([]float64, stride)
	r.frame.shift(r.job.Pool, shift, step)
	r.frame.shift(r.job.Pool, own, r.weights)
	r.step = step
	r.stepSquare = r.frame.inner(r.job.Pool, step, step, shift, shift)
	r.stepInner = r.frame.inner(r.job.Pool, r.weights, step, own, shift)
	r.times(r.support, r.stepScores, step, shift, nil)
}

// Along implements minimize.Objective.
func (r *Classes) Along(t float64) (slope, curvature float64) {
	var total [2]float64
	stride, classes, rows := r.shape.Stride(), r.tree.Classes(), r.support.Rows()
	r.job.Sum(len(rows), total[:], func(lo, hi int, part []float64) {
		buffer := make([]float64, 5*classes)
		certain, there, first := buffer[:classes], buffer[classes:2*classes], buffer[2*classes:3*classes]
		state, bent := buffer[3*classes:4*classes], buffer[4*classes:]
		for _, i := range rows[lo:hi] {
			if r.Label[i] == Jointly {
				continue
			}
			at := int(i) * stride
			change, target := r.stepScores[at:at+classes], r.target(i, certain)
			copy(there, r.scores[at:at+classes])
			vector.Add(there, t, change)
			r.Loss.At(there, target, first, state)
			r.Loss.Bend(bent, change, target, state)
			part[0] += r.Cost[i] * vector.Dot(first, change)
			part[1] += r.Cost[i] * vector.Dot(bent, change)
		}
	})
	if r.Joint != nil {
		slope, curvature = r.Joint.Along(r.scores, r.stepScores, t)
	}
	return slope + r.alpha*(r.stepInner+t*r.stepSquare) + total[0], curvature + r.alpha*r.stepSquare + total[1]
}

// Step implements minimize.Objective.
func (r *Classes) Step(t float64) {
	weights := r.weights
	if r.sums != nil {
		weights = r.sums.coef
		r.sums.square += t * (2*r.stepInner + t*r.stepSquare)
	}
	r.job.Stripes(len(r.step), func(lo, hi int) { vector.Add(weights[lo:hi], t, r.step[lo:hi]) })
	stride, rows := r.shape.Stride(), r.support.Rows()
	r.job.EachRow(len(rows), func(lo, hi int) {
		for _, i := range rows[lo:hi] {
			vector.Add(r.scores[int(i)*stride:(int(i)+1)*stride], t, r.stepScores[int(i)*stride:])
		}
	})
	if r.sums != nil {
		r.step, r.stepScores = nil, nil // the minimizer's
	}
}
