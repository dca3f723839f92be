package transduction

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// gradient is the gradient TSVM: no labels of the unlabeled rows, but a smooth loss of theirs.
//
//	Problem  min over W  α/2 |W|² + Σ_i w_i ℓ(t_i) + λ' Σ_j w_j u(t_j), λ' raised in steps to its value; with the linear
//	         balance constraint Σ_j w_j s_j = φ, for a pair Σ_j w_j z_j = 2 φ_1 - 1
//	Symbols  i labeled, j unlabeled rows; t_i margin of the row's class before the soft maximum of the other scores, t_j
//	         of the best class, see loss.Gap; ℓ loss.Huber, u loss.Plateau; φ class prior
//	Source   Zien, Brefeld & Scheffer 2007 (∇TSVM), sections 3 and 4; Chapelle & Zien 2005 for the constraint.
//	         Differences: the constraint, which the former leave out: without it all unlabeled rows can go to one side;
//	         the form of u, which we give from memory, and the soft maximum, see package loss; Newton steps with |u”| for
//	         the curvature in place of conjugate gradients on F
//	Stops    |g|² / 2α <= tol F at the full λ': a stationary point, which need not be the lowest one
//	Cost     a level: a few Newton steps, which read the rows with margin between τ and 1 only
func (t *task) gradient() solution {
	r, newton, start := t.begin()
	if !finite(start) {
		return t.read(r, start, stop{reason: ending.NotFinite})
	}
	free := &freeRows{Nonconvex: risk.Nonconvex{Risk: r}, task: t, labels: make([]int32, len(t.Unlabeled))}
	free.admit()
	t.noteFirst(r.Score)
	limits := t.energyLimits()
	end := t.follow(r, newton, free, &rising{raising{levels: t.levels(), full: t.Options.UnlabeledWeight}}, limits)
	if end.reason == ending.NotFinite {
		return t.read(r, end.last, end)
	}
	free.enter(1)
	limits = t.finalLimits()
	limits.Line = pathLine
	outcome := newton.Minimize(free, limits)
	switched, _ := free.relabel()
	end.steps++
	t.note(r, t.Options.UnlabeledWeight, switched, 0)
	return t.read(r, outcome, end)
}

// ε, τ and ρ of the losses.
const (
	band      = 0.3
	flat      = 0.4
	sharpness = 10
)

// freeRows are the belief of gradient: unlabeled rows stay without a label.
type freeRows struct {
	risk.Nonconvex
	task   *task
	labels []int32 // [unlabeled] of the largest score
}

// admit gives the unlabeled rows scores.
func (f *freeRows) admit() {
	for k, i := range f.task.Unlabeled {
		f.Label[i], f.Cost[i] = risk.Unlabeled, f.task.UnlabeledWeight[k]
	}
	f.Recost()
	f.relabel()
}

func (f *freeRows) enter(part float64) {
	for k, i := range f.task.Unlabeled {
		f.Cost[i] = part * f.task.Options.UnlabeledWeight * f.task.UnlabeledWeight[k]
	}
}

func (f *freeRows) relabel() (switched int, entropy float64) {
	scores := make([]float64, f.task.classes)
	for k, i := range f.task.Unlabeled {
		f.Score(scores, i)
		if y := int32(vector.Largest(scores)); y != f.labels[k] {
			f.labels[k] = y
			switched++
		}
	}
	return switched, 0
}

// rising is the schedule of gradient: one solve at each level.
type rising struct{ raising }

func (r *rising) next(int, float64) ending.Reason {
	if r.levels = r.levels[1:]; len(r.levels) == 0 {
		return ending.Stationary
	}
	return ending.None
}
