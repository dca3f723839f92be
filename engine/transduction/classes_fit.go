package transduction

import (
	"math"
	"runtime"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// classSolution is a fitted score of every class: s_y(x) = coef_y . x + intercept_y.
type classSolution struct {
	coef        []float64 // [features, K] in the problem's order and units
	intercept   []float64 // [K]
	scores      []float64 // [n, K] of the training rows
	loss        loss.Classes
	regularizer float64
	gap         float64
	converged   bool
	end         ending
}

func (t *classTask) fit(p Problem) (*Result, error) {
	var s classSolution
	switch {
	case t.options.Method == "pair_switching":
		return nil, fault.Argument("method is %q: it is for two classes, and there are %d; use annealing or switching",
			t.options.Method, t.classes)
	case !t.transductive():
		s = t.solveSupervised()
	case t.options.Method == "annealing":
		s = t.anneal()
	case t.options.probable():
		s = t.expect()
	default:
		s = t.switching()
	}
	if s.end.reason == givenUp {
		return nil, nil
	}
	if t.movesThreshold() && s.end.reason != "not_finite" {
		t.moveIntercepts(&s)
	}
	rowScores := func(i int32) []float64 { return s.scores[int(i)*t.classes : (int(i)+1)*t.classes] }
	objective := t.objective(s.loss, s.regularizer, rowScores)
	if t.learnsMeans() {
		objective = t.believed
	}
	err := t.checkNumbers(objective, s.coef, s.intercept, s.scores, t.distributions)
	if err != nil {
		return nil, err
	}
	if t.transductive() && !t.learnsMeans() {
		t.checkShares(t.shares(rowScores), t.prior)
	}
	if !t.learnsMeans() {
		t.checkEnd(s.converged, s.gap, &s.end)
	}
	classifier := &model.Linear{
		Classes: t.classes, Features: p.Rows.Cols(), Outputs: model.OutputsOf(t.classes), ClassPrior: t.prior,
		Method: t.options.Method, Iterations: max(1, s.end.steps), Objective: objective, Termination: s.end.reason,
		Warnings: t.warnings,
	}
	classifier.Coef, classifier.Intercept = t.outputs(&s)
	return &Result{Model: classifier, Returned: t.options.Method, Transduction: t.transduced(p.Labels, s.scores),
		Distributions: t.distributions, History: t.history.columns(t.options.Method, t.shareColumn())}, nil
}

// learnsMeans says that the method is one of package expectation, and has something to learn from.
func (t *classTask) learnsMeans() bool { return t.transductive() && t.options.probable() }

// shareColumn is what the history tells of the classes' shares by.
func (t *classTask) shareColumn() string {
	if t.learnsMeans() {
		return "constraint_residual"
	}
	return "share_distance"
}

func (t *classTask) solveSupervised() classSolution {
	t.warnSupervised()
	limits := t.supervisedLimits()
	limits.Forcing = 0.2 // rows of equal weight: conjugate gradients gain much by a few more steps
	r, newton, outcome := t.supervised(limits)
	outcome = t.sharpen(r, newton, outcome)
	t.note(r, 0, 0, 0)
	return t.readClasses(r, outcome, t.supervisedEnd(outcome))
}

// readClasses is the last use of a risk. Its minimizer is garbage by then, and is collected before the results are
// made: they are as large.
func (t *classTask) readClasses(r *risk.Classes, outcome minimize.Outcome, end ending) classSolution {
	s := classSolution{loss: r.Loss, regularizer: r.Regularizer(), gap: outcome.Gap / outcome.Value,
		converged: outcome.Converged && !lost(outcome), end: end}
	if int64(r.Dim()) > largeVector {
		runtime.GC()
	}
	s.coef, s.intercept, s.scores = r.Read(t.feature, t.features)
	for k := range s.coef {
		s.coef[k] /= t.length
	}
	return s
}

// largeVector is a number of variables from which on memory counts.
const largeVector = 1 << 18

// moveIntercepts adds the potentials of the best labeling at the scores to the intercepts: then the class with the
// largest score is the one that this labeling gives.
func (t *classTask) moveIntercepts(s *classSolution) {
	k, costs, scores := t.classes, t.costs, s.scores
	for j, i := range t.unlabeled {
		for y := range k {
			costs[j*k+y] = -scores[int(i)*k+y]
		}
	}
	potentials := t.potentials(costs)
	row := make([]float64, k)
	moved := func(i int32) []float64 {
		copy(row, scores[int(i)*k:])
		for y, v := range potentials {
			row[y] += v
		}
		return row
	}
	plain := func(i int32) []float64 { return scores[int(i)*k : (int(i)+1)*k] }
	if !(t.shareDistance(moved) < t.shareDistance(plain)) {
		return // many equal scores
	}
	for y, v := range potentials {
		if !t.centred() && t.tree.Flat() { // the intercept counts as a weight; in a tree the nodes' do, and stay
			s.regularizer += t.options.Alpha / 2 * v * (2*s.intercept[y] + v)
		}
		s.intercept[y] += v
	}
	for i := range t.rows.Rows() {
		copy(scores[i*k:(i+1)*k], moved(int32(i)))
	}
}

// potentials are those of the best labels that keep the class counts, or shares where rows have unequal weights; their
// mean is 0.
func (t *classTask) potentials(costs []float64) []float64 {
	labels := make([]int32, len(t.unlabeled))
	labeling.Greedy(labels, costs, t.counts)
	potentials := t.cheapest(labels, costs)
	mean, lowest := 0.0, 0.0
	for _, v := range potentials {
		if !math.IsInf(v, 0) {
			mean += v / float64(t.classes)
			lowest = min(lowest, v)
		}
	}
	spread := 0.0
	for _, c := range costs {
		spread = max(spread, math.Abs(c))
	}
	for y, v := range potentials {
		if math.IsInf(v, 0) { // a class without a row: never the largest
			v = lowest - 2*spread - 1
		}
		potentials[y] = v - mean
	}
	return potentials
}

// cheapest changes labels to the best ones at these costs that keep the class counts, or the shares where rows have
// unequal weights, and returns potentials in the middle of those that prove it.
func (t *classTask) cheapest(labels []int32, costs []float64) (potentials []float64) {
	counts := t.counts
	if t.weighed {
		counts = t.weighedLabels(labels, costs)
	}
	potentials, _ = labeling.Transport(labels, costs, counts)
	return potentials
}

// weighedLabels sets labels to the best ones whose total weights come near the class shares, and gives their counts.
// They are soft labels made hard: the potentials of those split a row, and so leave no room between the classes.
func (t *classTask) weighedLabels(labels []int32, costs []float64) (counts []int) {
	soft, potentials := make([]float64, len(costs)), make([]float64, t.classes)
	for _, temperature := range []float64{1, 0.1, 0.01, 0.001} {
		labeling.SoftClasses(t.job, soft, costs, t.unlabeledWeight, t.prior, temperature, potentials)
	}
	t.likeliest(labels, soft)
	counts = make([]int, t.classes)
	for _, y := range labels {
		counts[y]++
	}
	return counts
}

// outputs are the weights and intercepts of the model: one decision for two classes, otherwise one a class.
func (t *classTask) outputs(s *classSolution) (coef, intercept []float64) {
	if t.classes != 2 {
		return s.coef, s.intercept
	}
	coef = make([]float64, t.features)
	for j := range coef {
		coef[j] = s.coef[2*j+1] - s.coef[2*j]
	}
	return coef, []float64{s.intercept[1] - s.intercept[0]}
}

// transduced keeps given labels and places the other rows by their largest score.
func (t *classTask) transduced(labels []int32, scores []float64) []int32 {
	classes := append([]int32(nil), labels...)
	for i, label := range labels {
		if label < 0 {
			classes[i] = int32(vector.Largest(scores[i*t.classes : (i+1)*t.classes]))
		}
	}
	return classes
}
