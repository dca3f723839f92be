package transduction

import (
	"github.com/fewlabel/fewlabel/engine/dual"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/problem"
)

// pairSwitching is the transductive support vector machine with one pair of labels switched at a time.
//
//	Problem  as in switching, with the hinge (or squared hinge) as ξ. While the labels are searched the unlabeled
//	         rows cost C*₊ as positive and C*₋ as negative; both end at C* = λ' w_j / α
//	Symbols  num₊ number of positive unlabeled rows, from the class prior; ξ_m, ξ_l slacks of a positive, a negative
//	         row
//	Source   Joachims 1999, algorithm TSVM: C*₋ and C*₊ start near 1e-5 in the ratio of the classes and are doubled
//	         up to C*. Differences: costs relative to C*; C*₊ : C*₋ = rest : num₊, so that both classes weigh the
//	         same in total (the paper prints the inverse, with which small classes were found less well on Reuters);
//	         the dual is kept warm between switches and solved loosely on the way
//	Stops    at each cost: no positive and negative row with ξ_m > 0, ξ_l > 0, ξ_m + ξ_l > 2 after a solve to
//	         tolerance; max_iter solves and switches together, of which the last is a solve to tolerance at C* for the
//	         labels found so far
//	Cost     a switch: one or a few epochs over the rows that are not shrunk
func (t *task) pairSwitching() solution {
	d := t.descent()
	if t.Start != nil {
		return t.pairSwitchingOn(d)
	}
	if !t.Transductive() {
		return t.solveDual(d)
	}
	if _, gap := d.Solve(looseGap, looseEpochs); !problem.IsFinite(gap) {
		return t.readDual(d, gap, stop{reason: ending.NotFinite})
	}
	scores := t.dualScores(d)
	t.noteFirst(t.ofDecisions(scores))
	positive := t.topLabels(scores)
	t.signs(d, positive)
	ratio := t.prior[0] / t.prior[1]
	end := stop{reason: ending.NoSwitch}
	for minus, plus := firstCost, min(1, firstCost*ratio); ; minus, plus = min(1, 2*minus), min(1, 2*plus) {
		done := minus == 1 && plus == 1
		if !done && t.atLimit(&end) {
			minus, plus, done = 1, 1, true
		}
		t.dualCosts(d, positive, plus, minus)
		gap, switched := t.switchPairs(d, positive, plus, minus, done, &end)
		t.recordDual(d, max(plus, minus), 2*switched)
		if done || !problem.IsFinite(gap) {
			return t.readDual(d, gap, end)
		}
	}
}

// solveDual is the supervised solution.
func (t *task) solveDual(d *dual.Descent) solution {
	primal, gap := d.Solve(t.Options.Tol, finalEpochs)
	t.recordDual(d, 0, 0)
	return t.readDual(d, gap/primal, stop{reason: ending.Converged, steps: 1})
}

const (
	firstCost    = 1e-5 // of C*
	looseGap     = 0.02 // relative duality gap of solves on the way
	looseEpochs  = 20
	switchEpochs = 5
	finalEpochs  = 2000
)

// switchPairs switches pairs at fixed costs until none is left or one step alone, and returns the relative gap of the
// last solve. At the last costs that solve is exact, and may take the step that is left.
func (t *task) switchPairs(
	d *dual.Descent, positive []bool, plus, minus float64, last bool, end *stop,
) (gap float64, switched int) {
	for {
		tolerance, epochs := looseGap, looseEpochs
		if last {
			tolerance, epochs = t.Options.Tol, finalEpochs
		}
		primal, distance := d.Solve(tolerance, epochs)
		gap = distance / primal
		end.steps++
		before := switched
		pair, helps := t.worstPair(d, positive)
		for ; helps && t.limit(end.steps) == ending.None; pair, helps = t.worstPair(d, positive) {
			for side, k := range pair {
				positive[k] = side == 0
				t.place(d, k, positive[k], plus, minus)
			}
			switched++
			end.steps++
			d.Solve(looseGap, switchEpochs)
		}
		limit := t.limit(end.steps)
		if switched > before && (last || limit == ending.None) {
			continue
		}
		if helps && limit != ending.None {
			end.reason = limit
		}
		return gap, switched
	}
}

// worstPair is the negative and the positive row with the largest slacks, and whether it helps to exchange their
// labels.
func (t *task) worstPair(d *dual.Descent, positive []bool) (pair [2]int, helps bool) {
	pair, slack := [2]int{-1, -1}, [2]float64{}
	for k, i := range t.Unlabeled {
		side := 0
		if positive[k] {
			side = 1
		}
		if s := 1 - d.Sign[i]*d.Score(i); s > slack[side] {
			pair[side], slack[side] = k, s
		}
	}
	t.Job.Visit(int64(len(t.Unlabeled)) * int64(t.Rows.NonZeros()) / int64(t.Rows.Rows()))
	return pair, pair[0] >= 0 && pair[1] >= 0 && slack[0]+slack[1] > 2
}

// descent is the dual problem of the labeled rows.
func (t *task) descent() *dual.Descent {
	d := dual.New(t.Job, t.Rows, t.frame(), t.Options.Loss == problem.SquaredHinge, t.Options.RandomState)
	for k, i := range t.Labeled {
		d.Sign[i] = -1
		if t.Class[k] == 1 {
			d.Sign[i] = 1
		}
		d.Cost[i] = t.LabeledWeight[k] / t.Options.Alpha
	}
	return d
}

func (t *task) signs(d *dual.Descent, positive []bool) {
	for k, i := range t.Unlabeled {
		d.Sign[i] = -1
		if positive[k] {
			d.Sign[i] = 1
		}
	}
}

// place gives unlabeled row k its label and the cost of that side.
func (t *task) place(d *dual.Descent, k int, positive bool, plus, minus float64) {
	sign, level := -1.0, minus
	if positive {
		sign, level = 1, plus
	}
	i := t.Unlabeled[k]
	d.Relabel(i, sign)
	d.Cost[i] = level * t.Options.UnlabeledWeight * t.UnlabeledWeight[k] / t.Options.Alpha
}

func (t *task) dualCosts(d *dual.Descent, positive []bool, plus, minus float64) {
	for k := range t.Unlabeled {
		t.place(d, k, positive[k], plus, minus)
	}
}

func (t *task) dualScores(d *dual.Descent) []float64 {
	scores := make([]float64, t.Rows.Rows())
	for i := range scores {
		scores[i] = d.Score(int32(i))
	}
	t.Job.Visit(int64(t.Rows.NonZeros()))
	return scores
}

// topLabels gives the rows with the largest decisions [n] the positive label, as many as the prior says.
func (t *task) topLabels(decisions []float64) (positive []bool) {
	labels, costs := make([]int32, len(t.Unlabeled)), make([]float64, 2*len(t.Unlabeled))
	for k, i := range t.Unlabeled {
		costs[2*k], costs[2*k+1] = decisions[i], -decisions[i]
	}
	t.cheapest(labels, costs)
	positive = make([]bool, len(labels))
	for k, y := range labels {
		positive[k] = y == 1
	}
	return positive
}

// ofDecisions is the scorer of decisions [n].
func (t *task) ofDecisions(decisions []float64) scorer {
	return func(dst []float64, row int32) { t.scores.ClassScores(dst, decisions[row:]) }
}

func (t *task) readDual(d *dual.Descent, gap float64, end stop) solution {
	coef, intercept := d.Linear()
	s := solution{coef: make([]float64, t.Features), intercept: []float64{intercept}, outputs: t.dualScores(d),
		loss: t.loss(0), regularizer: t.Options.Alpha / 2 * d.Square(), converged: gap <= t.Options.Tol, gap: gap, end: end}
	for k, w := range coef {
		s.coef[t.Feature[k]] = w / t.Length
	}
	return s
}

func (t *task) recordDual(d *dual.Descent, level float64, switched int) {
	t.noteAt(t.ofDecisions(t.dualScores(d)), t.Options.Alpha/2*d.Square(), level*t.Options.UnlabeledWeight, switched, 0,
		t.loss(0))
}
