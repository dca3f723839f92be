package belief

import (
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// joint is a cost of the unlabeled rows' class scores whose value can be found alone.
type joint interface {
	risk.Joint
	Evaluate(scores []float64) (value float64)
}

// Weak is another cost for rows of which something is known before their features are seen.
//
//	Problem  Ψ(s - κ) - Σ_j v_j log Σ_y p_jy exp(-κ_jy)
//	Symbols  Ψ the other cost; s_j class scores [K], p_j their softmax; κ prior costs, see package weak, whose class
//	         probabilities are in proportion to exp(-κ_jy); v_j weight of unlabeled row j. Ψ sees the probabilities given
//	         both, in proportion to p_jy exp(-κ_jy); the second term is the loss of what is known: minus the logarithm of
//	         the probability of a set of classes, which is the loss of a labeled row where the set has one class
//	Source   ours; of posterior regularization Ψ(s - κ) with v_j = C u_j is the divergence from labels that cost κ
//	Cost     that of Ψ, an exp a row and class, and three arrays of the scores' length
//
// Curvature is that at a fixed p_jy exp(-κ_jy), which bounds it from above, as in Posterior.
type Weak struct {
	joint
	Known float64 // the second term at the last Evaluate

	job     *work.Job
	sample  *sample.Sample
	weights []float64 // [Unlabeled] v; 0 for rows of which nothing is known
	classes int
	stride  int
	p       []float64 // [Unlabeled, K] at the last Gradient
	shifted []float64 // [n, stride] s - κ
	before  []float64 // [Unlabeled, K] changes
}

// forbidden is a prior cost at which a probability is 0 beside any other.
const forbidden = 1e9

// newWeak adds to a cost what is known of the rows beforehand; level is the weight of the unlabeled rows. It is nil
// where nothing is known.
func newWeak(job *work.Job, of joint, s *sample.Sample, level float64, stride int) *Weak {
	if s.Weak == nil {
		return nil
	}
	n := len(s.Unlabeled) * s.Classes()
	w := &Weak{joint: of, job: job, sample: s, stride: stride, classes: s.Classes(), weights: make([]float64, len(s.Unlabeled)),
		p: make([]float64, n), shifted: make([]float64, s.Rows.Rows()*stride), before: make([]float64, n)}
	for k := range s.Unlabeled {
		if s.Weak.Of(k).Known() {
			w.weights[k] = level * s.UnlabeledWeight[k]
		}
	}
	return w
}

// subtract takes κ, finite, from scores [K] of a row.
func (w *Weak) subtract(scores []float64, k int) {
	if row := w.sample.Weak.Of(k); row.Known() {
		for y := range scores {
			scores[y] -= min(row.Of(int32(y)), forbidden)
		}
	}
}

// row is the part of a vector [n, stride], and place that of one [Unlabeled, K], that belongs to the classes of a row.
func (w *Weak) row(v []float64, k int) []float64 {
	at := int(w.sample.Unlabeled[k]) * w.stride
	return v[at : at+w.classes]
}

func (w *Weak) place(v []float64, k int) []float64 { return v[k*w.classes : (k+1)*w.classes] }

// shift sets s - κ.
func (w *Weak) shift(scores []float64) []float64 {
	w.each(func(k int) {
		shifted := w.row(w.shifted, k)
		copy(shifted, w.row(scores, k))
		w.subtract(shifted, k)
	})
	return w.shifted
}

func (w *Weak) each(do func(k int)) {
	w.job.EachRow(len(w.sample.Unlabeled), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			do(k)
		}
	})
}

// Evaluate is the cost at these scores.
func (w *Weak) Evaluate(scores []float64) (value float64) {
	value = w.joint.Evaluate(w.shift(scores))
	w.Known = w.loss(scores, nil, 0)[0]
	return value + w.Known
}

// Gradient implements risk.Joint.
func (w *Weak) Gradient(scores, slope, state []float64) (value float64) {
	value = w.joint.Gradient(w.shift(scores), slope, state)
	w.each(func(k int) {
		p, given := w.place(w.p, k), make([]float64, w.classes)
		softmax(p, w.row(scores, k))
		softmax(given, w.row(w.shifted, k))
		vector.Add(w.row(slope, k), w.weights[k], p)
		vector.Add(w.row(slope, k), -w.weights[k], given)
	})
	return value + w.loss(scores, nil, 0)[0]
}

// HessVec implements risk.Joint.
func (w *Weak) HessVec(changes, slope, state []float64) (curvature float64) {
	w.each(func(k int) { copy(w.place(w.before, k), w.row(changes, k)) })
	curvature = w.joint.HessVec(changes, slope, state)
	sum := []float64{0}
	w.job.Sum(len(w.weights), sum, func(lo, hi int, part []float64) {
		for k := lo; k < hi; k++ {
			p, change, product := w.place(w.p, k), w.place(w.before, k), w.row(changes, k)
			mean := vector.Dot(p, change)
			for y, q := range p {
				add := w.weights[k] * q * (change[y] - mean)
				part[0] += add * change[y]
				product[y] += add
			}
		}
	})
	return curvature + sum[0]
}

// Line implements risk.Joint.
func (w *Weak) Line(scores, changes []float64, t float64) (value, slope, curvature float64) {
	value, slope, curvature = w.joint.Line(w.shift(scores), changes, t)
	sums := w.loss(scores, changes, t)
	return value + sums[0], slope + sums[1], curvature + sums[2]
}

// loss is -Σ v log Σ_y p_y exp(-κ_y) at scores + t changes, with its derivatives along them; nil: none.
func (w *Weak) loss(scores, changes []float64, t float64) (sums []float64) {
	sums = make([]float64, 3)
	w.job.Sum(len(w.weights), sums, func(lo, hi int, part []float64) {
		p, given := make([]float64, w.classes), make([]float64, w.classes)
		for k := lo; k < hi; k++ {
			copy(p, w.row(scores, k))
			if changes != nil {
				vector.Add(p, t, w.row(changes, k))
			}
			copy(given, p)
			w.subtract(given, k)
			part[0] += w.weights[k] * (softmax(p, p) - softmax(given, given))
			if changes == nil {
				continue
			}
			change := w.row(changes, k)
			mean := vector.Dot(p, change)
			part[1] += w.weights[k] * (mean - vector.Dot(given, change))
			for y, q := range p {
				part[2] += w.weights[k] * q * (change[y] - mean) * (change[y] - mean)
			}
		}
	})
	return sums
}
