package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// gradient is the gradient TSVM: no labels of the unlabeled rows, but a smooth loss of theirs.
//
//	Problem  min over W  α/2 |W|² + Σ_i w_i ℓ(t_i) + λ' Σ_j w_j u(t_j), λ' raised to its value; with balance mean subject
//	         to Σ_j w_j s_j = φ, for a pair Σ_j w_j z_j = 2 φ_1 - 1
//	Symbols  i labeled, j unlabeled rows; t_i margin between the row's class and the others, t_j between the best class
//	         and the others, see loss.Gap; ℓ loss.Huber, u loss.Plateau; s_j scores, z_j that of a pair; φ class prior
//	Source   Zien, Brefeld & Scheffer 2007 (∇TSVM); Chapelle & Zien 2005 for the constraint. Differences: the
//	         constraint, which the former leave out: without it all unlabeled rows can go to one side; the form of u,
//	         which we give from memory, and the soft maximum, see package loss; L-BFGS in place of conjugate gradients.
//	         Newton steps with |u”| for the curvature often did not end on g50c: rows change between the linear and the
//	         curved part of their loss
//	Stops    |g|² / 2α <= tol F at the full λ': a stationary point, which need not be the lowest one
//	Cost     a step: two passes, and 4 method.DescentPairs vectors of weights
func (t *task) gradient() solution {
	r, _, start := t.begin()
	if !finite(start) {
		return t.read(r, start, stop{reason: ending.NotFinite})
	}
	free := &freeRows{Risk: r, task: t, labels: make([]int32, len(t.Unlabeled)),
		descent: &minimize.QuasiNewton{Pool: t.Job.Pool, Memory: method.DescentPairs}}
	free.admit()
	t.noteFirst(r.Score)
	end := stop{reason: ending.Stationary}
	if t.start == nil {
		levels := &raisingOnce{raising{levels: partsFrom(firstPart, raisePart), full: t.Options.UnlabeledWeight}}
		end = t.follow(r, free.minimize, free, levels, t.descentLimits(descentSteps))
	}
	if end.reason == ending.NotFinite {
		return t.read(r, end.last, end)
	}
	free.enter(1)
	limits := t.descentLimits(lastDescentSteps)
	limits.Tolerance = t.Options.Tol
	outcome := free.minimize(free, limits)
	switched, _ := free.relabel()
	end.steps++
	t.noteOwn(r, t.Options.UnlabeledWeight, switched, 0)
	return t.read(r, outcome, end)
}

// ε, τ and ρ of the losses: the first two from Zien, Brefeld & Scheffer 2007, as we remember them; ρ is ours.
const (
	band      = 0.3
	flat      = 0.4
	sharpness = 10
)

// The schedule: λ' starts at firstPart of its value and is raised by raisePart, after so many steps at most. Measured
// on text1 with λ' = 38 and α = 2e-4: from 0.01 on, errors are 0.9 points higher after as many passes.
const (
	firstPart        = 0.001
	raisePart        = 4.0
	descentSteps     = 5
	lastDescentSteps = 10000
)

func (t *task) descentLimits(steps int) minimize.Limits {
	return minimize.Limits{Tolerance: pathLooseness * t.Options.Tol, MaxSteps: steps}
}

// freeRows are the belief of gradient: unlabeled rows stay without a label.
type freeRows struct {
	*risk.Risk
	task    *task
	descent *minimize.QuasiNewton
	labels  []int32 // [unlabeled] of the largest score
	gap     float64 // |g|² / 2α at the last At
}

// admit lets the unlabeled rows have scores.
func (f *freeRows) admit() {
	for _, i := range f.task.Unlabeled {
		f.Label[i] = risk.Unlabeled
	}
	f.task.admit(f.Risk)
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

// At implements minimize.Smooth.
func (f *freeRows) At(w, gradient []float64) float64 {
	value := f.Risk.At(w, gradient)
	f.gap = f.Gap(gradient)
	return value
}

// minimize goes downhill from the current point.
func (f *freeRows) minimize(_ minimize.Objective, limits minimize.Limits) (outcome minimize.Outcome) {
	w := f.Weights()
	f.descent.MaxSteps = limits.MaxSteps
	f.descent.Enough = func(steps int, value, _ float64) bool {
		outcome = minimize.Outcome{Value: value, Gap: f.gap, Steps: steps, Converged: f.gap <= limits.Tolerance*value}
		return outcome.Converged || !finite(outcome)
	}
	if _, steps := f.descent.Minimize(f, w); !outcome.Converged && steps < limits.MaxSteps {
		f.At(w, make([]float64, len(w))) // back from a step that did not improve
	}
	f.AdoptWeights(w)
	return outcome
}

// raisingOnce is the schedule of gradient: raising with one solve at each level.
type raisingOnce struct{ raising }

func (r *raisingOnce) next(int, float64) ending.Reason {
	if r.levels = r.levels[1:]; len(r.levels) == 0 {
		return ending.Stationary
	}
	return ending.None
}
