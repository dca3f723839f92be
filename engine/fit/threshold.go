package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// moveIntercepts adds the potentials of the best labeling to the class scores, so that the largest ones give it.
func moveIntercepts(r *method.Run, solution *method.Solution) {
	o, before := r.Objective, solution.Outputs
	score := solution.Score(o)
	shift := shiftOf(r.Costs.Potentials(score), len(solution.Intercept))
	shares := o.LocalShares(score) // before and after
	solution.Outputs = slices.Clone(before)
	o.Job.EachRow(o.Sample.Rows.Rows(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			vector.Add(solution.Outputs[i*len(shift):(i+1)*len(shift)], 1, shift)
		}
	})
	shares = append(shares, o.LocalShares(score)...)
	o.Job.Reduce(shares)
	if !(o.Distance(shares[o.Classes:]) < o.Distance(shares[:o.Classes])-roundedShare) {
		solution.Outputs = before // many equal scores
		return
	}
	shiftIntercepts(o, solution, shift)
}

// shiftIntercepts moves intercepts. They are regularized unless they are centered; in a tree the nodes' are, and stay.
func shiftIntercepts(o *objective.Objective, solution *method.Solution, shift []float64) {
	for y, v := range shift {
		if !o.Centered && o.Scores.Flat() {
			solution.Regularizer += o.Alpha / 2 * v * (2*solution.Intercept[y] + v)
		}
		solution.Intercept[y] += v
	}
}

const roundedShare = 1e-12 // above the rounding of a share, below the weight of a row

// shiftOf is the shift of the outputs where the class scores move by these potentials.
func shiftOf(potentials []float64, outputs int) []float64 {
	if outputs == 1 {
		return []float64{(potentials[1] - potentials[0]) / 2}
	}
	return potentials
}
