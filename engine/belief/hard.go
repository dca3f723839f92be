// Package belief has the labels of the unlabeled rows on the way of a method: hard, soft, none, or probabilities that
// keep the class shares. A belief enters an objective at a level of a schedule (Enter) and is renewed at the scores of
// a solve (Relabel). Start at Hard.
package belief

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
)

// Hard labels keep the class counts.
type Hard struct {
	*risk.Risk
	costs    *Costs
	exchange Exchange
	Labels   []int32 // [units]
}

// Exchange makes the exchanges of labels [units] of a relabeling, given their costs [units, K]; nil: all that help.
type Exchange func(labels []int32, costs []float64, classes int)

// NewHard are hard labels of the unlabeled rows, class 0 to begin with.
func NewHard(r *risk.Risk, costs *Costs, exchange Exchange) *Hard {
	return &Hard{Risk: r, costs: costs, exchange: exchange, Labels: make([]int32, costs.objective.Sample.Units())}
}

func (h *Hard) Begin() {
	h.costs.Measure(h.Risk)
	h.costs.Cheapest(h.Labels)
}

// BeginByScores finds the labels that keep the counts with the largest sum of scores [unlabeled, K] less prior costs.
func (h *Hard) BeginByScores(scores []float64) {
	h.costs.values = slices.Clone(scores)
	vector.Scale(h.costs.values, -1)
	h.costs.addPrior(1)
	h.costs.Cheapest(h.Labels)
}

// Enter puts the labels into the risk with a part of the weight of the unlabeled rows.
func (h *Hard) Enter(part float64) {
	h.costs.label(h.Risk, h.Labels)
	h.costs.weigh(h.Risk, part*h.costs.objective.Weight)
}

// Relabel changes the labels to the best ones that keep the counts, or makes a limited number of exchanges.
func (h *Hard) Relabel() (switched int, entropy float64) {
	h.costs.Measure(h.Risk)
	before := slices.Clone(h.Labels)
	if h.exchange == nil {
		h.costs.Cheapest(h.Labels)
	} else {
		h.exchange(h.Labels, h.costs.finite(), h.costs.objective.Classes)
	}
	return Differences(h.Labels, before), 0
}

// Prior is the sum of the labels' prior costs, which the risk does not have. Forbidden labels, which are rare, add 0.
func (h *Hard) Prior() float64 {
	o, sum, rows := h.costs.objective, []float64{0}, h.costs.units
	if o.Sample.Weak == nil {
		return 0
	}
	for k, y := range h.Labels {
		row, part := k, 1.0 // of the weight of the row
		if rows != nil {
			row, part = int(rows[k]), 1/o.Sample.UnlabeledRows[rows[k]]
		}
		if cost := o.Sample.Weak.Of(row).Of(y); !math.IsInf(cost, 1) {
			sum[0] += part * o.Weight * o.Sample.UnlabeledWeight[row] * weak.Strength * cost
		}
	}
	o.Job.Reduce(sum)
	return sum[0]
}

// Free rows have no label but a loss of their scores. Weakly labeled rows have their cheapest label.
type Free struct {
	*risk.Risk
	costs   *Costs
	descent *minimize.QuasiNewton
	labels  []int32 // [unlabeled] of the largest score, or the cheapest
	gap     float64 // |g|² / 2α at the last At
}

// NewFree makes the unlabeled rows of a risk free, once admitted; memory is for minimize.QuasiNewton.
func NewFree(r *risk.Risk, costs *Costs, memory int) *Free {
	unlabeled := costs.objective.Sample.Unlabeled
	f := &Free{Risk: r, costs: costs, labels: make([]int32, len(unlabeled)),
		descent: &minimize.QuasiNewton{Memory: memory}}
	for _, i := range unlabeled {
		f.Label[i] = risk.Unlabeled
	}
	f.Relabel()
	return f
}

func (f *Free) Enter(part float64) { f.costs.weigh(f.Risk, part*f.costs.objective.Weight) }

// Relabel finds labels that keep no class shares: the class of the largest score, for weakly labeled rows the cheapest
// class by the whole prior costs, as such labels go wrong more easily than labels that keep the shares.
func (f *Free) Relabel() (switched int, entropy float64) {
	c, s, scores := f.costs, f.costs.objective.Sample, make([]float64, f.costs.objective.Classes)
	if s.Weak != nil {
		c.measure(f.Risk)
		c.addPrior(c.Level)
	}
	for k, i := range s.Unlabeled {
		f.Score(scores, i)
		class := int32(vector.Largest(scores))
		if s.Weak.Of(k).Known() {
			class = int32(floats.MinIdx(c.row(k)))
			f.Label[i] = class
		}
		if class != f.labels[k] {
			f.labels[k] = class
			switched++
		}
	}
	return switched, 0
}

func (f *Free) At(w, gradient []float64) float64 {
	value := f.Risk.At(w, gradient)
	f.gap = f.Gap(gradient)
	return value
}

func (f *Free) Minimize(limits minimize.Limits) (outcome minimize.Outcome) {
	w := f.Weights // the descent moves it, and others at the points that it tries
	f.descent.MaxSteps = limits.MaxSteps
	f.descent.Enough = func(steps int, value, _ float64) bool {
		outcome = minimize.Outcome{Value: value, Gap: f.gap, Steps: steps, Converged: f.gap <= limits.Tolerance*value}
		return outcome.Converged || !outcome.Finite()
	}
	f.descent.Minimize(f, w)
	f.Weights = w
	return outcome
}
