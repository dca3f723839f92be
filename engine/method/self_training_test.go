package method

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/path"
)

// begin of the page

// selfTrain is self-training with the class shares.
//
//	Problem  that of objective.Objective with labels q_jy of 0 or 1; λ' raised in three steps to its value
//	Stops    after a step at each λ'; at the last, labels settle
func selfTrain(d *descent) *Solution { // at the supervised solution, or at a model to start from
	hard := belief.NewHard(d.risk, d.Costs, nil)
	hard.Begin() // labels by its scores
	rising := &path.Rising{Parts: []float64{0.01, 0.1, 0.5}, Full: d.Objective.Weight, End: path.NoSwitch}
	if !d.follow(d.risk, hard, rising, 1) {
		return nil
	}
	return d.settle(hard, 0, d.Objective.Weight)
}

var selfTraining = Spec{Name: "self_training", fit: selfTrain, Losses: []Loss{SquaredHinge, Maxent}, Balance: "share",
	Level: "unlabeled_weight"}

// end of the page

// AddSelfTraining adds the row to the table until remove is called.
func AddSelfTraining() (remove func()) {
	before := table
	table = append(table, selfTraining)
	return func() { table = before }
}
