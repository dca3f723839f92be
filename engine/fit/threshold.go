package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// moveIntercepts adds the potentials of the best labeling at the scores to the class scores: then the class with the
// largest score is the one that this labeling gives.
func moveIntercepts(r *method.Run, found *method.Solution) {
	o, before := r.Objective, found.Outputs
	score := found.Score(o)
	shift := shiftOf(r.Costs.Potentials(score), len(found.Intercept))
	shares := o.LocalShares(score) // before and after
	found.Outputs = slices.Clone(before)
	o.Job.EachRow(o.Sample.Rows.Rows(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			vector.Add(found.Outputs[i*len(shift):(i+1)*len(shift)], 1, shift)
		}
	})
	shares = append(shares, o.LocalShares(score)...)
	o.Job.Reduce(shares)
	if !(o.Distance(shares[o.Classes:]) < o.Distance(shares[:o.Classes])-roundedShare) {
		found.Outputs = before // many equal scores
		return
	}
	shiftIntercepts(o, found, shift)
}

// shiftIntercepts moves intercepts, which count as weights unless they are held; in a tree the nodes' do, and stay.
func shiftIntercepts(o *objective.Objective, found *method.Solution, shift []float64) {
	for y, v := range shift {
		if !o.Centered && o.Scores.Flat() {
			found.Regularizer += o.Alpha / 2 * v * (2*found.Intercept[y] + v)
		}
		found.Intercept[y] += v
	}
}

// roundedShare is above the rounding of a share, and below the weight of a row.
const roundedShare = 1e-12

// shiftOf is what so many outputs move by where the class scores move by these potentials.
func shiftOf(potentials []float64, outputs int) []float64 {
	if outputs == 1 {
		return []float64{(potentials[1] - potentials[0]) / 2}
	}
	return potentials
}
