package risk

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// terms are the losses of single rows, as functions of their stored scores.
type terms interface {
	// gradient puts gradients in the columns, states and activity of these rows in place, and adds the loss to sums[0]
	// and the gradients to sums[1:].
	gradient(rows []int32, sums []float64)
	// hessVec replaces a change of row i's outputs by the second derivative of its loss times it, and returns the
	// curvature along the change.
	hessVec(i int32, change []float64, s scratch) (curvature float64)
	// line adds value, first and second derivative along scores + t changes to sums.
	line(rows []int32, t float64, sums []float64)
}

// scratch has room for a row of classes, several times.
type scratch struct{ certain, there, slope, state, product []float64 }

func (r *Risk) newScratch() scratch {
	k := r.Map.Classes()
	room := make([]float64, 5*k)
	return scratch{room[:k], room[k : 2*k], room[2*k : 3*k], room[3*k : 4*k], room[4*k:]}
}

// target is what each class counts for row i; certain [K] is written where the label is certain.
func (r *Risk) target(i int32, certain []float64) []float64 {
	switch y := r.Label[i]; {
	case y >= 0:
		clear(certain)
		certain[y] = 1
		return certain
	case y == Unlabeled:
		return nil
	}
	k := len(certain)
	return r.Soft[int(r.Place[i])*k : (int(r.Place[i])+1)*k]
}

// classTerms are those of a loss of class scores which are stored.
type classTerms struct{ *Risk }

func (r classTerms) gradient(rows []int32, sums []float64) {
	stride, classes, s := r.shape.Stride(), r.Map.Classes(), r.newScratch()
	for _, i := range rows {
		at := int(i) * stride
		slope, state, active := r.slope[at:at+stride], r.state[at:at+classes], uint8(hasSlope|hasCurvature)
		clear(slope[classes:])
		if r.Label[i] != LabelJoint {
			sums[0] += r.Cost[i] * r.loss.At(r.scores[at:at+classes], r.target(i, s.certain), slope[:classes], state)
			active = activity(slope[:classes], r.loss.Curvature(state))
			vector.Scale(slope[:classes], r.Cost[i])
		}
		r.activity[i] = active
		r.Map.Up(slope)
		vector.Add(sums[1:], 1, slope)
	}
}

// activity reports whether a gradient and a curvature of a row of weight 1 count.
func activity(slope []float64, curvature float64) (bits uint8) {
	for _, g := range slope {
		if math.Abs(g) >= tinySlope {
			bits = hasSlope
			break
		}
	}
	if curvature >= tinyCurvature {
		bits |= hasCurvature
	}
	return bits
}

func (r classTerms) hessVec(i int32, change []float64, s scratch) (curvature float64) {
	at, classes := int(i)*r.shape.Stride(), len(s.product)
	r.loss.HessVec(s.product, change[:classes], r.target(i, s.certain), r.state[at:at+classes])
	vector.Scale(s.product, r.Cost[i])
	curvature = vector.Dot(s.product, change)
	copy(change, s.product)
	return curvature
}

func (r classTerms) line(rows []int32, t float64, sums []float64) {
	stride, classes, s := r.shape.Stride(), r.Map.Classes(), r.newScratch()
	for _, i := range rows {
		if r.Label[i] == LabelJoint {
			continue
		}
		at := int(i) * stride
		change, target := r.changes[at:at+classes], r.target(i, s.certain)
		copy(s.there, r.scores[at:at+classes])
		vector.Add(s.there, t, change)
		sums[0] += r.Cost[i] * r.loss.At(s.there, target, s.slope, s.state)
		r.loss.HessVec(s.product, change, target, s.state)
		sums[1] += r.Cost[i] * vector.Dot(s.slope, change)
		sums[2] += r.Cost[i] * vector.Dot(s.product, change)
	}
}

// pairTerms are those of a margin loss of scores.Pair: one number a row is stored, and state is the curvature,
// weighted.
type pairTerms struct {
	*Risk
	loss.Signed
}

// atOnce is how many rows are evaluated at a time: they stay in the fastest memory.
const atOnce = 128

// evaluate calls visit with the losses of some rows at scores + t changes; with t = 0 there need be no changes.
func (r pairTerms) evaluate(rows []int32, t float64, visit func(rows []int32, losses []loss.Sides)) {
	var room [atOnce]loss.Sides
	scores, changes, costs, labels, places, soft := r.scores, r.changes, r.Cost, r.Label, r.Place, r.Soft
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
		if r.Unlabeled != nil {
			r.evaluateUnlabeled(part, losses)
		}
		visit(part, losses)
	}
}

// evaluateUnlabeled replaces the losses of rows without a label.
func (r pairTerms) evaluateUnlabeled(rows []int32, losses []loss.Sides) {
	for k, i := range rows {
		if r.Label[i] == Unlabeled {
			l := &losses[k]
			v, s := r.Unlabeled.At(math.Abs(l.Z))
			l.Value, l.Slope, l.Curvature = r.Cost[i]*v, r.Cost[i]*math.Copysign(s, -l.Z), 0
		}
	}
}

func (r pairTerms) gradient(rows []int32, sums []float64) {
	slopes, states, activities, costs := r.slope, r.state, r.activity, r.Cost
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

func (r pairTerms) hessVec(i int32, change []float64, _ scratch) (curvature float64) {
	product := r.state[i] * change[0]
	curvature = product * change[0]
	change[0] = product
	return curvature
}

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
