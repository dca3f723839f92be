package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// moveIntercepts adds the potentials of the best labeling to the class scores, so that the largest ones give it.
func moveIntercepts(r *method.Run, solution *method.Solution) {
	o, outputs := r.Objective, solution.Outputs
	score := solution.Score(o)
	shift := r.Costs.Potentials(score)
	if len(solution.Intercept) == 1 {
		shift = []float64{(shift[1] - shift[0]) / 2}
	}
	_, before := o.Value(solution.Loss, 0, score)
	solution.Outputs = slices.Clone(outputs)
	o.Job.Every(o.Sample.Rows.Rows(), func(i int) {
		vector.Add(solution.Outputs[i*len(shift):(i+1)*len(shift)], 1, shift)
	})
	if _, after := o.Value(solution.Loss, 0, score); !(o.Distance(after) < o.Distance(before)-roundedShare) {
		solution.Outputs = outputs // many equal scores
		return
	}
	for y, v := range shift {
		if !o.Centered && o.Scores.Flat() { // intercepts are regularized; in a tree the nodes' are, and stay
			solution.Regularizer += o.Alpha / 2 * v * (2*solution.Intercept[y] + v)
		}
		solution.Intercept[y] += v
	}
}

const roundedShare = 1e-12 // above the rounding of a share, below the weight of a row
