package fit

import (
	"github.com/fewlabel/fewlabel/engine/dual"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// pairs is the transductive support vector machine with one pair of labels switched at a time.
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
type pairs struct {
	*task
	dual        *dual.Descent
	positive    []bool // [unlabeled] labels
	plus, minus float64
	end         stop
}

func (t *task) pairSwitching() solution {
	p := &pairs{task: t, dual: t.descent(), end: stop{reason: ending.NoSwitch}}
	switch {
	case t.start != nil:
		return p.resume()
	case !t.Transductive():
		return p.supervised()
	}
	return p.search()
}

// descent is the dual problem of the labeled rows.
func (t *task) descent() *dual.Descent {
	d := dual.New(t.Job, t.Rows, t.frame(), t.Options.Loss == method.SquaredHinge, t.Options.RandomState)
	for k, i := range t.Labeled {
		d.Sign[i] = sign(t.Class[k] == 1)
		d.Cost[i] = t.LabeledWeight[k] / t.Options.Alpha
	}
	return d
}

func sign(positive bool) float64 {
	if positive {
		return 1
	}
	return -1
}

// search raises the costs of the unlabeled rows, from labels by the supervised scores on.
func (p *pairs) search() solution {
	if _, gap := p.dual.Solve(looseGap, looseEpochs); !sample.IsFinite(gap) {
		p.end = stop{reason: ending.NotFinite}
		return p.read(gap)
	}
	scores := p.rowScores()
	p.noteFirst(p.ofDecisions(scores))
	p.label(scores)
	ratio := p.prior[0] / p.prior[1]
	for minus, plus := firstCost, min(1, firstCost*ratio); ; minus, plus = min(1, 2*minus), min(1, 2*plus) {
		last := minus == 1 && plus == 1
		if !last && p.atLimit(&p.end) {
			minus, plus, last = 1, 1, true
		}
		p.cost(plus, minus)
		gap, switched := p.exchange(last)
		p.record(max(plus, minus), 2*switched)
		if last || !sample.IsFinite(gap) {
			return p.read(gap)
		}
	}
}

// supervised is the supervised solution.
func (p *pairs) supervised() solution {
	primal, gap := p.dual.Solve(p.Options.Tol, finalEpochs)
	p.record(0, 0)
	p.end = stop{reason: ending.Converged, steps: 1}
	return p.read(gap / primal)
}

// resume goes on from the start: labels by its scores, costs at C*, first loosely. At a solution with the squared hinge
// the duals are those that the scores tell.
func (p *pairs) resume() solution {
	scores := p.startScores()
	if !p.Transductive() {
		p.dual.Resume(scores)
		return p.supervised()
	}
	p.label(scores)
	p.cost(1, 1)
	p.dual.Resume(scores)
	_, loose := p.exchange(false)
	gap, exact := p.exchange(true)
	p.record(1, 2*(loose+exact))
	return p.read(gap)
}

const (
	firstCost    = 1e-5 // of C*
	looseGap     = 0.02 // relative duality gap of solves on the way
	looseEpochs  = 20
	switchEpochs = 5
	finalEpochs  = 2000
)

// exchange switches pairs at fixed costs until none is left or one step alone, and returns the relative gap of the last
// solve. At the last costs that solve is exact, and may take the step that is left.
func (p *pairs) exchange(last bool) (gap float64, switched int) {
	for {
		tolerance, epochs := looseGap, looseEpochs
		if last {
			tolerance, epochs = p.Options.Tol, finalEpochs
		}
		primal, distance := p.dual.Solve(tolerance, epochs)
		gap = distance / primal
		p.end.steps++
		before := switched
		pair, helps := p.worst()
		for ; helps && p.limit(p.end.steps) == ending.None; pair, helps = p.worst() {
			for side, k := range pair {
				p.positive[k] = side == 0
				p.place(k)
			}
			switched++
			p.end.steps++
			p.dual.Solve(looseGap, switchEpochs)
		}
		limit := p.limit(p.end.steps)
		if switched > before && (last || limit == ending.None) {
			continue
		}
		if helps && limit != ending.None {
			p.end.reason = limit
		}
		return gap, switched
	}
}

// worst is the negative and the positive row with the largest slacks, and whether it helps to exchange their labels.
func (p *pairs) worst() (pair [2]int, helps bool) {
	pair, slack := [2]int{-1, -1}, [2]float64{}
	for k, i := range p.Unlabeled {
		side := 0
		if p.positive[k] {
			side = 1
		}
		if s := 1 - p.dual.Sign[i]*p.dual.Score(i); s > slack[side] {
			pair[side], slack[side] = k, s
		}
	}
	p.Job.CountAndCheck(int64(len(p.Unlabeled)) * int64(p.Rows.NonZeros()) / int64(p.Rows.Rows()))
	return pair, pair[0] >= 0 && pair[1] >= 0 && slack[0]+slack[1] > 2
}

// label gives the unlabeled rows with the largest decisions [n] the positive label, as many as the prior says.
func (p *pairs) label(decisions []float64) {
	labels, costs := make([]int32, len(p.Unlabeled)), make([]float64, 2*len(p.Unlabeled))
	for k, i := range p.Unlabeled {
		costs[2*k], costs[2*k+1] = decisions[i], -decisions[i]
	}
	labeling.CheapestLabels(p.Job, labels, costs, p.UnlabeledWeight, p.prior)
	p.positive = make([]bool, len(labels))
	for k, y := range labels {
		p.positive[k] = y == 1
		p.dual.Sign[p.Unlabeled[k]] = sign(p.positive[k])
	}
}

// cost sets the costs of the two labels, in parts of C*.
func (p *pairs) cost(plus, minus float64) {
	p.plus, p.minus = plus, minus
	for k := range p.Unlabeled {
		p.place(k)
	}
}

// place gives unlabeled row k its label and the cost of that side.
func (p *pairs) place(k int) {
	i, level := p.Unlabeled[k], p.minus
	if p.positive[k] {
		level = p.plus
	}
	p.dual.Relabel(i, sign(p.positive[k]))
	p.dual.Cost[i] = level * p.Options.UnlabeledWeight * p.UnlabeledWeight[k] / p.Options.Alpha
}

// rowScores are the scores [n] of all rows.
func (p *pairs) rowScores() []float64 {
	scores := make([]float64, p.Rows.Rows())
	for i := range scores {
		scores[i] = p.dual.Score(int32(i))
	}
	p.Job.CountAndCheck(int64(p.Rows.NonZeros()))
	return scores
}

// startScores are those [n] of the start.
func (p *pairs) startScores() []float64 {
	scores := make([]float64, p.Rows.Rows())
	p.Job.CountAndCheck(int64(p.Rows.NonZeros()))
	p.Rows.Times(p.Job, scores, p.startCoef())
	if p.Options.FitIntercept {
		for i := range scores {
			scores[i] += p.start.Intercept[0]
		}
	}
	return scores
}

// ofDecisions is the scorer of decisions [n].
func (p *pairs) ofDecisions(decisions []float64) scorer {
	return func(dst []float64, row int32) { p.scores.ClassScores(dst, decisions[row:]) }
}

func (p *pairs) read(gap float64) solution {
	coef, intercept := p.dual.Linear()
	s := solution{coef: make([]float64, p.Features), intercept: []float64{intercept}, outputs: p.rowScores(),
		loss: p.loss(0), regularizer: p.Options.Alpha / 2 * p.dual.Square(), converged: gap <= p.Options.Tol, gap: gap,
		end: p.end}
	for k, w := range coef {
		s.coef[p.Feature[k]] = w / p.Length
	}
	return s
}

func (p *pairs) record(level float64, switched int) {
	p.noteAt(p.ofDecisions(p.rowScores()), p.Options.Alpha/2*p.dual.Square(), level*p.Options.UnlabeledWeight, switched, 0,
		p.loss(0))
}
