package method

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/schedule"
)

// switchPairs is the transductive support vector machine with one pair of labels exchanged at a time.
//
//	Problem  as in switching
//	Symbols  λ' weight of the unlabeled rows, C* of the paper in parts of C; ξ_m, ξ_l losses of a positive and of a
//	         negative row, which are exchanged
//	Source   Joachims 1999, algorithm TSVM: C*₋ and C*₊ start near 1e-5 and are doubled up to C*. Differences: the path
//	         is that of switching, one Newton step in the primal an exchange in place of an optimum of the dual; the pair
//	         is that whose exchange lowers the objective most, which is the largest ξ_m + ξ_l, and more than 2, for the
//	         hinge; both classes have the same λ' (the paper weighs them in the ratio of their counts on the way); many
//	         classes, where the pair is the best of all pairs of classes
//	Stops    as switching does, with no pair left to exchange for "no label changes"
//	Cost     an exchange: a Newton step, see minimize, and a look at all costs
func switchPairs(r *Run) *Solution {
	d, ok := r.begin()
	if !ok {
		return nil
	}
	return d.raise(belief.NewHard(d.risk, r.Costs, labeling.SwitchPair), append(schedule.Parts(firstCost, 2), 1))
}

const firstCost = 1e-5
