package method

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/schedule"
)

// begin of the page

// selfTrain is self-training with the class shares.
//
//	Problem  that of objective.Objective with labels q_jy of 0 or 1; λ' raised in three steps to its value
//	Stops    after a step at each λ'; at the last, labels settle
func selfTrain(r *Run) *Solution {
	d, ok := r.begin() // the supervised solution, or a model to start from
	if !ok {
		return nil
	}
	hard := belief.NewHard(d.risk, r.Costs, nil)
	r.Costs.Admit(d.risk)
	r.began(d.risk.Score)
	hard.Begin() // labels by its scores
	rising := &schedule.Rising{Parts: []float64{0.01, 0.1, 0.5}, Full: r.Objective.Weight, End: ending.NoSwitch}
	r.Path.Follow(d.solve(d.risk), hard, rising, r.Path.Limits.Way(1))
	if r.Path.Reason == ending.NotFinite {
		return nil
	}
	d.settle(hard, 0, r.Objective.Weight)
	return r.read(d.risk)
}

var selfTraining = Spec{Name: "self_training", Fit: selfTrain, Losses: []Loss{SquaredHinge, Maxent}, Balance: "share",
	Level: "unlabeled_weight"}

// end of the page

// AddSelfTraining adds the row to the table until remove is called.
func AddSelfTraining() (remove func()) {
	before := table
	table = append(table, selfTraining)
	return func() { table = before }
}
