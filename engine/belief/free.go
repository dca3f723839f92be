package belief

import (
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/risk"
)

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
	w := f.Weights()
	f.descent.MaxSteps = limits.MaxSteps
	f.descent.Enough = func(steps int, value, _ float64) bool {
		outcome = minimize.Outcome{Value: value, Gap: f.gap, Steps: steps, Converged: f.gap <= limits.Tolerance*value}
		return outcome.Converged || !outcome.Finite()
	}
	f.descent.Minimize(f, w)
	f.AdoptWeights(w)
	return outcome
}
