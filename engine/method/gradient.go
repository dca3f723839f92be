package method

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// descend is the gradient TSVM: no labels of the unlabeled rows, but a smooth loss of theirs.
//
//	Problem  min over W  α/2 |W|² + Σ_i w_i ℓ(t_i) + λ' Σ_j w_j u(t_j), λ' raised to its value; with balance mean subject
//	         to Σ_j w_j s_j = φ, for a pair Σ_j w_j z_j = 2 φ_1 - 1
//	Symbols  i labeled, j unlabeled rows; t_i margin between the row's class and the others, t_j between the best class
//	         and the others, see loss.Gap; ℓ loss.Huber, u loss.Plateau; s_j scores, z_j that of a pair; φ class prior
//	Source   Zien, Brefeld & Scheffer 2007 (∇TSVM); Chapelle & Zien 2005 for the constraint
//	Differences  the constraint, without which all unlabeled rows can go to one side; the form of u, given from memory,
//	         and the soft maximum, see package loss; L-BFGS in place of conjugate gradients: Newton steps often did not
//	         converge on g50c. Weakly labeled rows have their cheapest label at each step, by ℓ and prior costs
//	Stops    |g|² / 2α <= tol F at the full λ': a stationary point, perhaps not the lowest
//	Cost     a step: two passes, and 4 descentPairs vectors of weights
func descend(d *descent) *Solution {
	free := belief.NewFree(d.risk, d.Costs, descentPairs)
	p, tol, weight := d.Path, d.Options.Tol, d.Objective.Weight
	if !d.AtOnce {
		rising := &path.Rising{Parts: path.Parts(firstPart, raisePart), Full: weight, End: path.Stationary}
		limits := minimize.Limits{Tolerance: path.Looseness * tol, MaxSteps: descentSteps}
		p.Follow(free.Minimize, free, rising, limits, 1)
	}
	last := &path.Rising{Parts: []float64{1}, Full: weight, Stays: d.Objective.Sample.All.Weak, End: path.Stationary}
	p.Complete(free.Minimize, free, last, minimize.Limits{Tolerance: tol, MaxSteps: lastDescentSteps})
	solution := d.read(nil)
	solution.Unconverged = warning.NotStationary
	return solution
}

const (
	band             = 0.3   // ε of the losses, from Zien, Brefeld & Scheffer 2007, from memory
	sharpness        = 10    // ρ of the losses, ours
	firstPart        = 0.001 // of λ'; from 0.01 on errors on text1 are 0.9 points higher
	raisePart        = 4.0
	descentSteps     = 5 // at a part of λ'
	lastDescentSteps = 10000
	descentPairs     = 10 // differences of weights and of gradients that are kept, see minimize.QuasiNewton
)

func gradientLoss(paired bool) loss.Classes {
	if paired {
		return loss.Signed{Margin: loss.Huber{Band: band}, Plateaus: true}
	}
	return loss.Gap{Margin: loss.Huber{Band: band}, Sharpness: sharpness}
}
