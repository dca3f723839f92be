package risk

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// losses are those of all rows at stored scores, of single rows and a joint one.
type losses struct {
	*linear
	Loss  loss.Classes // see SetLoss
	terms terms

	Cost []float64 // [n] c; call UpdateSupport where a row without a weight gets one
	// The classes of the rows: Label [n] where it is 0 or more, otherwise the soft labels Soft [·, K] at Place [n].
	Label      []int32
	Place      []int32
	SoftLabels []float64
	Joint      Joint // cost of the rows with LabelJoint, or nil; their Cost only has to be above 0

	Scores   []float64 // [n, stride] stored scores of the rows with a weight, at the current point
	changes  []float64 // [n, stride] of scores along a vector: the last multiplied, or the direction
	state    []float64 // [n, stride] of each row's loss: what its HessVec needs
	slope    []float64 // [n, stride] of each row's loss: its gradient, see slopes
	activity []uint8   // [n] bits hasSlope and hasCurvature
}

func (l *losses) SetLoss(of loss.Classes) {
	l.Loss, l.terms = of, classTerms{l}
	if signed, ok := of.(loss.Signed); ok {
		l.terms = pairTerms{l, signed}
	}
}

// Score puts the class scores of row i, which has a weight, into dst [K].
func (l *losses) Score(dst []float64, i int32) {
	l.Map.ClassScores(dst, l.Scores[int(i)*l.Stride:])
}

// PairCosts puts the costs of rows of a pair, times a factor, into dst [rows, 2]; false if the risk is of no pair.
func (l *losses) PairCosts(dst []float64, rows []int32, factor float64) bool {
	pair, ok := l.terms.(pairTerms)
	if !ok {
		return false
	}
	scores := l.Scores
	for k, i := range rows {
		sides, costs := [2]float64{-scores[i], scores[i]}, dst[2*k:2*k+2]
		pair.Signed.Costs(costs, sides[:])
		costs[0], costs[1] = factor*costs[0], factor*costs[1]
	}
	return true
}

// slopes are the gradients of the rows: in the memory of changes, unless the products of a joint cost need both.
func (l *losses) slopes() []float64 {
	if l.Joint == nil {
		return l.changes
	}
	if l.slope == nil {
		l.slope = make([]float64, len(l.changes))
	}
	return l.slope
}

// Spare is memory of n numbers that is free until the next gradient or product; nil: there is not as much.
func (l *losses) Spare(n int) []float64 {
	if len(l.changes) < n {
		return nil
	}
	return l.changes[:n]
}

// hessVecs replaces the changes of rows by the second derivatives of their losses times these, in columns, and adds
// them to sums. Of rows with LabelJoint the products are there.
func (l *losses) hessVecs(rows []int32, sums []float64) {
	stride, outputs := l.Stride, l.Map.Outputs()
	for _, i := range rows {
		change := l.changes[int(i)*stride : (int(i)+1)*stride]
		if l.Label[i] != LabelJoint {
			l.terms.hessVec(i, change)
		}
		clear(change[outputs:])
		l.Map.Up(change)
		vector.Add(sums, 1, change)
	}
}

// terms are the losses of single rows, as functions of their stored scores.
type terms interface {
	// gradient sets gradients in the columns, states and activity of rows; sums are of the loss, then of the gradients.
	gradient(rows []int32, sums []float64)
	// hessVec replaces a change of row i's outputs by the second derivative times it.
	hessVec(i int32, change []float64)
	// line adds value, first and second derivative along scores + t changes to sums.
	line(rows []int32, t float64, sums []float64)
}

// target is what each class counts for row i; certain [K] is written where the label is certain.
func (l *losses) target(i int32, certain []float64) []float64 {
	switch y := l.Label[i]; {
	case y >= 0:
		clear(certain)
		certain[y] = 1
		return certain
	case y == Unlabeled:
		return nil
	}
	k := len(certain)
	return l.SoftLabels[int(l.Place[i])*k : (int(l.Place[i])+1)*k]
}

// classTerms are those of a loss of class scores which are stored.
type classTerms struct{ *losses }

func (r classTerms) gradient(rows []int32, sums []float64) {
	stride, classes, slopes := r.Stride, r.Map.Classes(), r.slopes()
	certain := make([]float64, classes)
	for _, i := range rows {
		at := int(i) * stride
		slope, state, active := slopes[at:at+stride], r.state[at:at+classes], uint8(hasSlope|hasCurvature)
		clear(slope[classes:])
		if r.Label[i] != LabelJoint {
			sums[0] += r.Cost[i] * r.Loss.At(r.Scores[at:at+classes], r.target(i, certain), slope[:classes], state)
			active = activity(slope[:classes], r.Loss.Curvature(state))
			vector.Scale(slope[:classes], r.Cost[i])
		}
		r.activity[i] = active
		r.Map.Up(slope)
		vector.Add(sums[1:], 1, slope)
	}
}

// activity reports whether a gradient and a curvature of a row of weight 1 count.
func activity(slope []float64, curvature float64) (bits uint8) {
	if slices.ContainsFunc(slope, func(g float64) bool { return math.Abs(g) >= tinySlope }) {
		bits = hasSlope
	}
	if curvature >= tinyCurvature {
		bits |= hasCurvature
	}
	return bits
}

func (r classTerms) hessVec(i int32, change []float64) {
	at, classes := int(i)*r.Stride, r.Map.Classes()
	r.Loss.HessVec(change[:classes], r.state[at:at+classes])
	vector.Scale(change[:classes], r.Cost[i])
}

func (r classTerms) line(rows []int32, t float64, sums []float64) {
	stride, classes := r.Stride, r.Map.Classes()
	certain, there := make([]float64, classes), make([]float64, classes)
	slope, state := make([]float64, classes), make([]float64, classes)
	for _, i := range rows {
		if r.Label[i] == LabelJoint {
			continue
		}
		at := int(i) * stride
		change := r.changes[at : at+classes]
		floats.AddScaledTo(there, r.Scores[at:at+classes], t, change)
		sums[0] += r.Cost[i] * r.Loss.At(there, r.target(i, certain), slope, state)
		sums[1] += r.Cost[i] * vector.Dot(slope, change)
		product := there
		copy(product, change)
		r.Loss.HessVec(product, state)
		sums[2] += r.Cost[i] * vector.Dot(product, change)
	}
}

// pairTerms are those of a margin loss of scores.Pair: a row has one number; its state is the curvature, weighted.
type pairTerms struct {
	*losses
	loss.Signed
}

// atOnce is how many rows are evaluated at a time: they stay in the fastest memory.
const atOnce = 128

// evaluate calls visit with the losses of some rows at scores + t changes; with t = 0 there need be no changes.
func (r pairTerms) evaluate(rows []int32, t float64, visit func(rows []int32, losses []loss.Sides)) {
	var room [atOnce]loss.Sides
	scores, changes, costs, labels, places, soft := r.Scores, r.changes, r.Cost, r.Label, r.Place, r.SoftLabels
	for part := range slices.Chunk(rows, atOnce) {
		losses := room[:len(part)]
		for k, i := range part {
			l, cost := &losses[k], costs[i]
			if l.Z = scores[i]; t != 0 {
				l.Z += t * changes[i]
			}
			switch labels[i] {
			case 1:
				l.Plus, l.Minus = cost, 0
			case 0:
				l.Plus, l.Minus = 0, cost
			case Unlabeled:
				l.Plus, l.Minus = 0, 0
			default:
				of := soft[2*int(places[i]):]
				l.Plus, l.Minus = cost*of[1], cost*of[0]
			}
		}
		loss.Evaluate(r.Margin, losses)
		if r.Plateaus {
			r.evaluateUnlabeled(part, losses)
		}
		visit(part, losses)
	}
}

func (r pairTerms) evaluateUnlabeled(rows []int32, losses []loss.Sides) {
	for k, i := range rows {
		if r.Label[i] == Unlabeled {
			l := &losses[k]
			v, s := loss.Plateau(math.Abs(l.Z))
			l.Value, l.Slope, l.Curvature = r.Cost[i]*v, r.Cost[i]*math.Copysign(s, -l.Z), 0
		}
	}
}

func (r pairTerms) gradient(rows []int32, sums []float64) {
	slopes, states, activities, costs := r.slopes(), r.state, r.activity, r.Cost
	r.evaluate(rows, 0, func(rows []int32, losses []loss.Sides) {
		value, slope := sums[0], sums[1]
		for k, i := range rows {
			l, cost, active := &losses[k], costs[i], uint8(hasSlope|hasCurvature)
			if math.Abs(l.Slope) < tinySlope*cost {
				l.Slope, active = 0, active&^hasSlope
			}
			if l.Curvature < tinyCurvature*cost {
				l.Curvature, active = 0, active&^hasCurvature
			}
			slopes[i], states[i], activities[i] = l.Slope, l.Curvature, active
			value += l.Value
			slope += l.Slope
		}
		sums[0], sums[1] = value, slope
	})
}

func (r pairTerms) hessVec(i int32, change []float64) { change[0] *= r.state[i] }

func (r pairTerms) line(rows []int32, t float64, sums []float64) {
	changes := r.changes
	r.evaluate(rows, t, func(rows []int32, losses []loss.Sides) {
		value, slope, curvature := sums[0], sums[1], sums[2]
		for k, i := range rows {
			l, d := &losses[k], changes[i]
			value += l.Value
			slope += l.Slope * d
			curvature += l.Curvature * d * d
		}
		sums[0], sums[1], sums[2] = value, slope, curvature
	})
}

// Labels that are no classes.
const (
	LabelJoint = -2 // of a row of the Joint cost
	Unlabeled  = -3 // of a row without a label that has a loss
)

// Joint is a cost of the class scores of some rows together, convex or not. Vectors are those of Risk, [n, stride] with
// class scores first; it reads and writes only the classes of its own rows.
type Joint interface {
	// Gradient gives the cost at these scores, puts its gradient into slope, and into state what HessVec needs.
	Gradient(scores, slope, state []float64) (value float64)
	// HessVec turns changes of scores into the second derivative, or a model of it, times them.
	HessVec(changes, slope, state []float64)
	// Line gives the value of the cost and its first and second derivative along scores + t changes.
	Line(scores, changes []float64, t float64) (value, slope, curvature float64)
}
