// Package belief has the labels of the unlabeled rows on the way of a method: hard, soft, none, or probabilities that
// keep the class shares. A belief enters an objective at a level of a schedule (Enter) and is renewed at the scores of
// a solve (Relabel). Start at Hard.
package belief

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/objective"
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
	before   []int32
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
	o := h.costs.objective
	h.costs.units.label(h.Risk, h.Labels)
	for k, i := range o.Sample.Unlabeled {
		h.Cost[i] = part * o.Weight * o.Sample.UnlabeledWeight[k]
	}
}

// Relabel changes the labels to the best ones that keep the counts, or makes a limited number of exchanges.
func (h *Hard) Relabel() (switched int, entropy float64) {
	h.costs.Measure(h.Risk)
	h.before = append(h.before[:0], h.Labels...)
	if h.exchange == nil {
		h.costs.Cheapest(h.Labels)
	} else {
		h.exchange(h.Labels, h.costs.finite(), h.costs.objective.Classes)
	}
	return Differences(h.Labels, h.before), 0
}

// Prior is the sum of the labels' prior costs, no part of the risk. Labels that a row cannot have, very few, count 0.
func (h *Hard) Prior() float64 {
	o, sum, rows := h.costs.objective, []float64{0}, h.costs.units.rows
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

// Admit gives the unlabeled rows a weight, and so scores.
func (c *Costs) Admit(r *risk.Risk) {
	s := c.objective.Sample
	for k, i := range s.Unlabeled {
		r.Cost[i] = s.UnlabeledWeight[k]
	}
	r.UpdateSupport()
}

// Free rows have no label but a loss of their scores. Weakly labeled rows have their cheapest label.
type Free struct {
	*risk.Risk
	objective *objective.Objective
	costs     *Costs
	descent   *minimize.QuasiNewton
	labels    []int32 // [unlabeled] of the largest score, or the cheapest
	known     []bool  // [unlabeled] weakly labeled rows, which have their label
	gap       float64 // |g|² / 2α at the last At
}

// NewFree gives the unlabeled rows of a risk a loss of their scores; memory is for minimize.QuasiNewton.
func NewFree(r *risk.Risk, o *objective.Objective, costs *Costs, memory int) *Free {
	f := &Free{Risk: r, objective: o, costs: costs, labels: make([]int32, len(o.Sample.Unlabeled)),
		known: make([]bool, len(o.Sample.Unlabeled)), descent: &minimize.QuasiNewton{Memory: memory}}
	for _, i := range o.Sample.Unlabeled {
		f.Label[i] = risk.Unlabeled
	}
	costs.Admit(r)
	f.Relabel()
	return f
}

func (f *Free) Enter(part float64) {
	for k, i := range f.objective.Sample.Unlabeled {
		f.Cost[i] = part * f.objective.Weight * f.objective.Sample.UnlabeledWeight[k]
		if f.known[k] {
			f.Label[i] = f.labels[k]
		}
	}
}

// Relabel counts the rows whose best class has changed.
func (f *Free) Relabel() (switched int, entropy float64) {
	f.costs.freeLabels(f.Risk, func(k int, class int32, known bool) {
		f.known[k] = known
		if class != f.labels[k] {
			f.labels[k] = class
			switched++
		}
	})
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

// Soft is the belief of annealing: the free energy as a function of W, with the soft labels at their best values.
type Soft struct {
	*risk.Risk
	costs       *Costs
	temperature float64
	potentials  []float64 // [K] v
	labels      []int32   // [unlabeled] the likeliest ones
}

// NewSoft gives the unlabeled rows the class prior as soft labels, and the weight of the costs' level.
func NewSoft(r *risk.Risk, costs *Costs) *Soft {
	o := costs.objective
	unlabeled := o.Sample.Unlabeled
	r.SoftLabels = make([]float64, len(unlabeled)*o.Classes)
	for k, i := range unlabeled {
		r.Label[i], r.Place[i] = -1, int32(k)
		r.Cost[i] = costs.Level * o.Sample.UnlabeledWeight[k]
		copy(r.SoftLabels[k*o.Classes:], o.Prior)
	}
	r.UpdateSupport()
	costs.Measure(r)
	return &Soft{Risk: r, costs: costs, potentials: make([]float64, o.Classes), labels: make([]int32, len(unlabeled))}
}

func (s *Soft) Enter(temperature float64) { s.temperature = temperature }

// Relabel counts the likeliest labels that have changed.
func (s *Soft) Relabel() (switched int, entropy float64) {
	var sums [2]float64 // labels changed, entropy in bits
	k, weights := s.costs.objective.Classes, s.costs.objective.Sample.UnlabeledWeight
	s.costs.objective.Job.Total(len(s.labels), sums[:], func(lo, hi int, part []float64) {
		for j := lo; j < hi; j++ {
			row := s.SoftLabels[j*k : (j+1)*k]
			if y := int32(vector.Largest(row)); s.labels[j] != y {
				s.labels[j] = y
				part[0]++
			}
			part[1] += weights[j] * labeling.Entropy(row)
		}
	})
	return int(sums[0]), sums[1]
}

func (s *Soft) Gradient(dst []float64) float64 {
	s.Renew()
	return s.Risk.Gradient(dst)
}

// Renew sets the soft labels to the best ones at the current scores that keep the class shares.
func (s *Soft) Renew() {
	o := s.costs.objective
	s.costs.Measure(s.Risk)
	labeling.SoftLabels(o.Job, s.SoftLabels, s.costs.values, o.Sample.UnlabeledWeight, o.Prior, s.temperature,
		s.potentials, nearShares)
}

// nearShares is how near the shares soft labels are; labeling.Exact takes twice the evaluations to the same labels.
const nearShares = 1e-6

// Harden finds the best hard labels at the costs with the whole weight; changed are those that were not the likeliest.
func (s *Soft) Harden(exchange Exchange) (hard *Hard, changed int) {
	o := s.costs.objective
	s.costs.Level = o.Weight
	s.costs.Measure(s.Risk)
	likeliest := s.costs.units.labelsOf(s.labels)
	hard = NewHard(s.Risk, s.costs, exchange)
	copy(hard.Labels, likeliest)
	s.costs.Cheapest(hard.Labels)
	return hard, o.Job.Count(Differences(hard.Labels, likeliest))
}

// Warm is a belief of soft labels from which hard ones are found.
type Warm struct {
	*Soft
	Hard *Hard
}

func (w Warm) Relabel() (switched int, entropy float64) { return w.Hard.Relabel() }
