package method

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/path"
)

// switchLabels is the transductive method with hard labels.
//
//	Problem  that of objective.Objective with labels q_jy of 0 or 1; λ' raised in steps to its value
//	Symbols  c_jy = λ' ξ(s_j, y) cost of class y for unlabeled row j; n(y) class counts, from φ by largest remainder
//	Source   Sindhwani & Keerthi 2006 section 3.1 (multiple switching) for two classes; Keerthi, Sundararajan & Shevade
//	         2012, algorithm 1 (C^u annealed) and 2 (switching between pairs of classes) for many
//	Differences  one Newton step a relabeling, from the supervised solution on; C^u starts at 0.01; unless switches are
//	         limited, labels are the best ones, not only under switches of two (docs/notes/switching.md)
//	Stops    at each λ': no label changes; at the last an exact solve, repeated while that changes labels; max_iter
//	Cost     a level: a few Newton steps, see minimize
func switchLabels(d *descent) *Solution {
	hard := belief.NewHard(d.risk, d.Costs, d.exchange())
	if d.Objective.Start != nil && d.Options.MaxSwitches == 0 { // a limit on exchanges has no soft labels
		return switchFromStart(d, hard)
	}
	return d.raise(hard, path.Parts(firstLevel, raise))
}

// raise raises λ' by these parts, or at once to its value, with hard labels that begin at the current scores.
func (d *descent) raise(hard *belief.Hard, parts []float64) *Solution {
	if d.AtOnce {
		parts = []float64{1}
	}
	hard.Begin()
	rising := &path.Rising{Parts: parts, Full: d.Objective.Weight, Stays: true, End: path.NoSwitch}
	if !d.follow(d.risk, hard, rising, 1) {
		return nil
	}
	return d.settle(hard, 0, d.Objective.Weight)
}

const (
	firstLevel = 0.01 // part of λ'; Keerthi et al. 2012 start at 1e-4, but few labels switch below 0.01
	raise      = 3.0  // factor

	// From an earlier model switching takes softSteps with nearly hard labels. More, or warmer ones, end lower, at a cost.
	softStart = 0.02 // of the first temperature of annealing
	softSteps = 2
)

// switchFromStart takes a few steps with soft labels from the start, and settles hard ones.
func switchFromStart(d *descent, hard *belief.Hard) *Solution {
	soft := belief.NewSoft(d.risk, d.Costs)
	d.Costs.Cheapest(hard.Labels)
	soft.Enter(softStart * firstTemperature(d.Run))
	once := &path.Rising{Parts: []float64{1}, Full: d.Objective.Weight, End: path.NoSwitch}
	if !d.follow(soft, belief.Warm{Soft: soft, Hard: hard}, once, softSteps) {
		return nil
	}
	d.risk.SoftLabels = nil
	return d.settle(hard, 0, d.Objective.Weight)
}

// switchPairs is the transductive support vector machine with one pair of labels exchanged at a time.
//
//	Problem  as in switching
//	Symbols  λ' weight of the unlabeled rows, C* of the paper in parts of C; ξ_m, ξ_l losses of a positive and of a
//	         negative row, which are exchanged
//	Source   Joachims 1999, algorithm TSVM: C*₋ and C*₊ start near 1e-5 and are doubled up to C*
//	Differences  the path of switching, one Newton step an exchange in place of an optimum of the dual; the pair is the
//	         one that lowers the objective most (for the hinge the largest ξ_m + ξ_l above 2), of all pairs of classes;
//	         both classes have the same λ', which the paper weighs by their counts until the end
//	Stops    as switching does, with no pair left to exchange for "no label changes"
//	Cost     an exchange: a Newton step, see minimize, and a look at all costs
func switchPairs(d *descent) *Solution {
	return d.raise(belief.NewHard(d.risk, d.Costs, labeling.SwitchPair), append(path.Parts(firstCost, 2), 1))
}

const firstCost = 1e-5
