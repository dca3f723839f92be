package transduction

import (
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// freeEnergy is the objective of annealing at one temperature as a function of w alone, with p at its best value for
// this w.
//
//	Problem  min over w of F_T(w) = min over p of the objective in anneal, subject to the class prior
//	Symbols  as in anneal; t step length along a direction
//	Source   Sindhwani & Keerthi 2006, equations 9-12. At the best p the gradient of F_T is the gradient at that p
//	         held fixed, and the curvature at fixed p bounds that of F_T from above: a Newton step at fixed p, then
//	         p anew, is their alternation. The line search looks along F_T itself, so it can go several such steps
//	         at once
//	Cost     a look along the line: a closed form for p, no pass over the data
type freeEnergy struct {
	*risk.Risk
	task        *task
	margin      loss.Margin
	temperature float64 // T
	nu          float64 // ν, multiplier of the class prior
	p           []float64
	g           []float64 // cost of each unlabeled row as positive minus as negative
	lastStep    float64   // where LineDerivatives looked last, and the slope there
	lastSlope   float64
}

func newFreeEnergy(t *task, r *risk.Risk, margin loss.Margin) *freeEnergy {
	return &freeEnergy{Risk: r, task: t, margin: margin, p: constant(len(t.unlabeled), t.prior),
		g: make([]float64, len(t.unlabeled))}
}

// relabel sets p, and the costs, to their best values at w + t s.
func (e *freeEnergy) relabel(t float64) {
	scores, change := e.Scores(), e.Change()
	e.task.job.EachRow(len(e.g), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i := e.task.unlabeled[k]
			e.g[k] = e.task.preference(scores[i]+t*change[i], e.margin)
		}
	})
	e.nu = labeling.Soft(e.task.job, e.p, e.g, e.task.unlabeledWeight, e.temperature, e.task.prior, e.nu)
	e.task.softCosts(e.Plus, e.Minus, e.p)
}

// Gradient implements minimize.Objective. It sets p anew; the gradient is that of F_T. The value that it returns is
// the risk's at this p held fixed, without the entropy, and so is the Gap, which bounds the distance from the minimum
// over w alone: a solve ends where w is good for its p. What p would gain by moving along is left to the line search
// and the next temperature.
func (e *freeEnergy) Gradient(dst []float64) float64 {
	e.relabel(0)
	return e.Risk.Gradient(dst)
}

// LineDerivatives implements minimize.Objective. The curvature is that between this look and the last one where it is
// positive and smaller than the curvature at fixed p.
func (e *freeEnergy) LineDerivatives(t float64) (slope, curvature float64) {
	e.relabel(t)
	slope, curvature = e.Risk.LineDerivatives(t)
	if t != 0 {
		between := (slope - e.lastSlope) / (t - e.lastStep)
		if between > curvature/16 && between < curvature {
			curvature = between
		}
	}
	e.lastStep, e.lastSlope = t, slope
	return slope, curvature
}
