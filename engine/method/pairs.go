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
//	Source   Joachims 1999, algorithm TSVM: C*₋ and C*₊ start near 1e-5 and are doubled up to C*
//	Differences  the path of switching, one Newton step an exchange in place of an optimum of the dual; the pair is the
//	         one that lowers the objective most (for the hinge the largest ξ_m + ξ_l above 2), of all pairs of classes;
//	         both classes have the same λ', which the paper weighs by their counts until the end
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
