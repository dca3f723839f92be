package belief

import (
	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Weak adds the loss of weak labels to another cost.
//
//	Problem  Ψ(s - κ) - Σ_j v_j log Σ_y p_jy exp(-κ_jy)
//	Symbols  Ψ the other cost; s_j class scores [K], p_j their softmax; κ prior costs, see package weak; v_j weight of
//	         unlabeled row j. Ψ has the probabilities given both, proportional to p_jy exp(-κ_jy); the second term is
//	         minus the logarithm of the probability of a set of classes
//	Source   ours; of posterior regularization Ψ(s - κ) with v_j = C u_j is the divergence from labels that cost κ
//	Cost     Ψ, an exp a row and class, and three arrays of the scores' length
//
// The curvature is taken at a fixed p_jy exp(-κ_jy), an upper bound, as in Posterior.
type Weak struct {
	joint
	layout         // weights v: 0 for rows that are not weakly labeled
	Known  float64 // the second term at the last Evaluate

	sample  *sample.Sample
	p       []float64 // [Unlabeled, K] at the last Gradient
	shifted []float64 // [n, stride] s - κ
	before  []float64 // [Unlabeled, K] changes before a HessVec; room in Gradient
}

// forbidden is a prior cost at which a probability is 0 in sums.
const forbidden = 1e9

// newWeak is nil where no row is weakly labeled; level is the weight of the unlabeled rows.
func newWeak(job *work.Job, cost joint, s *sample.Sample, level float64, stride int) *Weak {
	if s.Weak == nil {
		return nil
	}
	n := len(s.Unlabeled) * s.Classes()
	w := &Weak{joint: cost, sample: s, p: make([]float64, n), shifted: make([]float64, s.Rows.Rows()*stride),
		before: make([]float64, n), layout: layout{job: job, rows: s.Unlabeled,
			weights: make([]float64, len(s.Unlabeled)), classes: s.Classes(), stride: stride}}
	for k := range s.Unlabeled {
		if s.Weak.Of(k).Known() {
			w.weights[k] = level * s.UnlabeledWeight[k]
		}
	}
	return w
}

// subtract subtracts κ, made finite, from the scores [K] of a row.
func subtract(scores []float64, row weak.Row) {
	if row.Known() {
		for y := range scores {
			scores[y] -= min(row.Of(int32(y)), forbidden)
		}
	}
}

// shift sets s - κ.
func (w *Weak) shift(scores []float64) []float64 {
	w.each(func(k int) {
		shifted := w.row(w.shifted, k)
		copy(shifted, w.row(scores, k))
		subtract(shifted, w.sample.Weak.Of(k))
	})
	return w.shifted
}

func (w *Weak) Evaluate(scores, state []float64) (value float64) {
	value = w.joint.Evaluate(w.shift(scores), state)
	w.Known = w.loss(scores, scores, 0)[0]
	return value + w.Known
}

func (w *Weak) Gradient(scores, slope, state []float64) (value float64) {
	value = w.joint.Gradient(w.shift(scores), slope, state)
	w.each(func(k int) {
		p, given := w.place(w.p, k), w.place(w.before, k)
		vector.Softmax(p, w.row(scores, k))
		vector.Softmax(given, w.row(w.shifted, k))
		vector.Add(w.row(slope, k), w.weights[k], p)
		vector.Add(w.row(slope, k), -w.weights[k], given)
	})
	return value + w.loss(scores, scores, 0)[0]
}

func (w *Weak) HessVec(changes, slope, state []float64) {
	w.each(func(k int) { copy(w.place(w.before, k), w.row(changes, k)) })
	w.joint.HessVec(changes, slope, state)
	w.each(func(k int) {
		change := w.place(w.before, k)
		turn(change, change, w.place(w.p, k), w.weights[k])
		vector.Add(w.row(changes, k), 1, change)
	})
}

func (w *Weak) Line(scores, changes []float64, t float64) (value, slope, curvature float64) {
	value, slope, curvature = w.joint.Line(w.shift(scores), changes, t)
	sums := w.loss(scores, changes, t)
	return value + sums[0], slope + sums[1], curvature + sums[2]
}

// loss is -Σ v log Σ_y p_y exp(-κ_y) at scores + t changes, with its derivatives along them.
func (w *Weak) loss(scores, changes []float64, t float64) (sums []float64) {
	sums = make([]float64, 3)
	w.sum(sums, func(k int, part, scratch []float64) {
		p, given := scratch[:w.classes], scratch[w.classes:]
		change := w.row(changes, k)
		copy(given, floats.AddScaledTo(p, w.row(scores, k), t, change))
		subtract(given, w.sample.Weak.Of(k))
		part[0] += w.weights[k] * (vector.Softmax(p, p) - vector.Softmax(given, given))
		addSlopes(part[1:], w.weights[k], p, given, change)
	})
	return sums
}
