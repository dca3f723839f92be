package transduction

import (
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// task is a problem with two classes made ready.
type task struct {
	*sample
	positive []bool  // [labeled] class 1
	prior    float64 // r: that of class 1

	scratch []float64 // [2 unlabeled] of topLabels
	best    []bool    // [unlabeled] of relabel
	joined  bool      // the unlabeled rows have costs in the risk

	distributions []float64 // [n, 2] soft labels of annealing
}

func newTask(s *sample) (*task, error) {
	t := &task{sample: s, positive: make([]bool, len(s.class))}
	for k, class := range s.class {
		t.positive[k] = class == 1
	}
	shares, err := s.prior(2)
	if err != nil {
		return nil, err
	}
	t.prior = shares[1]
	return t, nil
}

// frame is where the intercept comes from.
func (t *task) frame() risk.Frame {
	switch {
	case !t.options.FitIntercept:
		return risk.Frame{}
	case t.centred():
		return risk.Frame{Center: t.center(), Mean: 2*t.prior - 1}
	}
	return risk.Frame{Constant: true}
}

// recentred is the frame in the coordinates that suit conjugate gradients.
func (t *task) recentred() risk.Frame {
	f := t.frame()
	if f.Constant {
		f.Center = t.center()
	}
	return f
}

// labeledRisk is the risk of the labeled rows alone, at the start or at 0.
func (t *task) labeledRisk() *risk.Risk {
	r := risk.New(t.job, t.rows, t.recentred(), loss.SquaredHinge{}, t.options.Alpha)
	if t.start != nil {
		r.MoveTo(t.startCoef(), t.start.Intercept[0])
	}
	for k, i := range t.labeled {
		if t.positive[k] {
			r.Plus[i] = t.labeledWeight[k]
		} else {
			r.Minus[i] = t.labeledWeight[k]
		}
	}
	r.Recost()
	r.PreconditionBy(t.labeled)
	return r
}

// supervised minimizes the risk of the labeled rows alone, and gives the risk and its minimizer for what follows.
func (t *task) supervised(limits minimize.Limits) (*risk.Risk, *minimize.Newton, minimize.Outcome) {
	r := t.labeledRisk()
	newton := minimize.NewNewton(r.Dim(), t.job.Pool)
	return r, newton, newton.Minimize(r, limits)
}

// gather puts the scores of the unlabeled rows into dst [unlabeled].
func (t *task) gather(dst, scores []float64) {
	for k, i := range t.unlabeled {
		dst[k] = scores[i]
	}
}

// preference is g = λ' (ξ(f) - ξ(-f)), the cost of an unlabeled row with score f as positive minus that as negative.
func (t *task) preference(f float64, margin loss.Margin) float64 {
	plus, _, _ := margin.At(f)
	minus, _, _ := margin.At(-f)
	return t.level * (plus - minus)
}

// preferences puts the preference of every unlabeled row into g [unlabeled].
func (t *task) preferences(g, scores []float64, margin loss.Margin) {
	t.job.EachRow(len(g), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			g[k] = t.preference(scores[t.unlabeled[k]], margin)
		}
	})
}

// transductiveObjective is α/2 |w|² + Σ labeled ξ(y f) + λ' Σ unlabeled min(ξ(f), ξ(-f)), averaged, at these scores;
// regularizer is the first term.
func (t *task) transductiveObjective(regularizer float64, scores []float64, margin loss.Margin) float64 {
	total := regularizer
	for k, i := range t.labeled {
		f := scores[i]
		if !t.positive[k] {
			f = -f
		}
		value, _, _ := margin.At(f)
		total += t.labeledWeight[k] * value
	}
	if !t.transductive() {
		return total
	}
	var sums [1]float64
	t.job.Sum(len(t.unlabeled), sums[:], func(lo, hi int, dst []float64) {
		for k := lo; k < hi; k++ {
			f := scores[t.unlabeled[k]]
			plus, _, _ := margin.At(f)
			minus, _, _ := margin.At(-f)
			dst[0] += t.unlabeledWeight[k] * min(plus, minus)
		}
	})
	return total + t.options.UnlabeledWeight*sums[0]
}

// positiveShare is the weighted share of unlabeled rows with score + intercept above 0.
func (t *task) positiveShare(scores []float64, intercept float64) float64 {
	var share [1]float64
	t.job.Sum(len(t.unlabeled), share[:], func(lo, hi int, dst []float64) {
		for k := lo; k < hi; k++ {
			if scores[t.unlabeled[k]]+intercept > 0 {
				dst[0] += t.unlabeledWeight[k]
			}
		}
	})
	return share[0]
}

// topLabels puts the labels into dst [unlabeled] that give the rows with the largest scores [n] the positive
// label, as many as the prior says; the threshold lies between them and the others, NaN if all scores are equal.
func (t *task) topLabels(dst []bool, scores []float64) (threshold float64) {
	u := len(t.unlabeled)
	if t.scratch == nil {
		t.scratch = make([]float64, 2*u)
	}
	t.gather(t.scratch[:u], scores)
	return labeling.Top(dst, t.scratch[:u], t.unlabeledWeight, t.prior, t.scratch[u:])
}
