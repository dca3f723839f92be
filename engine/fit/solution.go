package fit

import (
	"runtime"
	"slices"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// solution is a fitted classifier: outputs f_y(x) = coef_y . x + intercept_y, from which the class scores come.
type solution struct {
	coef        []float64 // [features, outputs] in the problem's order and units
	intercept   []float64 // [outputs]
	outputs     []float64 // [n, outputs] of the training rows
	loss        loss.Classes
	regularizer float64
	gap         float64 // bound on (objective - optimum) / objective at the final labels
	converged   bool
	end         stop
}

// read is the last use of a risk. Its minimizer is garbage by then, and is collected before the results are made: they
// are as large.
func (t *task) read(r *risk.Risk, outcome minimize.Outcome, end stop) solution {
	s := solution{loss: r.Loss(), regularizer: r.Regularizer(), gap: outcome.Gap / outcome.Value,
		converged: outcome.Converged && finite(outcome), end: end}
	if int64(r.Dim()) > largeVector {
		runtime.GC()
	}
	s.coef, s.intercept, s.outputs = r.Read(t.Feature, t.Features)
	vector.Scale(s.coef, 1/t.Length)
	return s
}

// largeVector is a number of variables from which on memory counts.
const largeVector = 1 << 18

// score is the scorer of a solution's training rows.
func (t *task) score(s *solution) scorer {
	width := t.scores.Outputs()
	return func(dst []float64, row int32) { t.scores.ClassScores(dst, s.outputs[int(row)*width:]) }
}

// moveIntercepts adds the potentials of the best labeling at the scores to the class scores: then the class with the
// largest score is the one that this labeling gives.
func (t *task) moveIntercepts(s *solution) {
	score, before := t.score(s), s.outputs
	if t.costs == nil {
		t.costs = make([]float64, len(t.Unlabeled)*t.classes)
	}
	for j, i := range t.Unlabeled {
		score(t.costs[j*t.classes:(j+1)*t.classes], i)
	}
	vector.Scale(t.costs, -1)
	weights := t.unitWeights()
	shift := t.shiftOf(labeling.Cheapest(t.Job, make([]int32, len(weights)), t.unitCosts(), weights, t.prior))
	shares := t.ownShares(score) // before and after
	s.outputs = slices.Clone(before)
	for i := range t.Rows.Rows() {
		vector.Add(s.outputs[i*len(shift):(i+1)*len(shift)], 1, shift)
	}
	shares = append(shares, t.ownShares(score)...)
	t.Job.Reduce(shares)
	if !(t.shareDistance(shares[t.classes:]) < t.shareDistance(shares[:t.classes])-roundedShare) {
		s.outputs = before // many equal scores
		return
	}
	for y, v := range shift {
		if !t.centred() && t.scores.Flat() { // the intercept counts as a weight; in a tree the nodes' do, and stay
			s.regularizer += t.Options.Alpha / 2 * v * (2*s.intercept[y] + v)
		}
		s.intercept[y] += v
	}
}

// roundedShare is above the rounding of a share, and below the weight of a row.
const roundedShare = 1e-12

// shiftOf is what the outputs move by where the class scores move by these potentials.
func (t *task) shiftOf(potentials []float64) []float64 {
	if t.Paired() {
		return []float64{(potentials[1] - potentials[0]) / 2}
	}
	return potentials
}

// modelWeights are the weights and intercepts of the model: one decision for two classes, otherwise one a class.
func (t *task) modelWeights(s *solution) (coef, intercept []float64) {
	if t.classes != 2 || t.Paired() {
		return s.coef, s.intercept
	}
	coef = make([]float64, t.Features)
	for j := range coef {
		coef[j] = s.coef[2*j+1] - s.coef[2*j]
	}
	return coef, []float64{s.intercept[1] - s.intercept[0]}
}

// transduced keeps given labels and places the other rows by their largest score.
func (t *task) transduced(labels []int32, score scorer) []int32 {
	classes, row := append([]int32(nil), labels...), make([]float64, t.classes)
	for i, label := range labels {
		if label < 0 || int(label) >= t.classes { // the latter has weight 0
			score(row, int32(i))
			classes[i] = int32(vector.Largest(row))
		}
	}
	return classes
}
