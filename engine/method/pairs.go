package method

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/dual"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/schedule"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// switchPairs is the transductive support vector machine with one pair of labels switched at a time.
//
//	Problem  as in switching, with the hinge (or squared hinge) as ξ. While the labels are searched the unlabeled
//	         rows cost C*₊ as positive and C*₋ as negative; both end at C* = λ' w_j / α
//	Symbols  num₊ number of positive unlabeled rows, from the class prior; ξ_m, ξ_l slacks of a positive, a negative
//	         row
//	Source   Joachims 1999, algorithm TSVM: C*₋ and C*₊ start near 1e-5 in the ratio of the classes and are doubled
//	         up to C*. Differences: costs relative to C*; C*₊ : C*₋ = rest : num₊, so that both classes weigh the
//	         same in total (the paper prints the inverse, with which small classes were found less well on Reuters);
//	         the dual is kept warm between switches and solved loosely on the way; with prior costs the pair is that
//	         whose exchange lowers the objective most
//	Stops    at each cost: no positive and negative row with ξ_m > 0, ξ_l > 0, ξ_m + ξ_l > 2 after a solve to
//	         tolerance; max_iter solves and switches together, of which the last is a solve to tolerance at C* for the
//	         labels found so far
//	Cost     a switch: one or a few epochs over the rows that are not shrunk
func switchPairs(r *Run) *Solution {
	p := newPairs(r)
	if r.Objective.Start != nil {
		return p.resume()
	}
	if r.Path.Last = p.solveDual(looseGap, looseEpochs); !r.Path.Last.Finite() {
		r.Path.Reason = ending.NotFinite
		return nil
	}
	scores := p.rowScores()
	r.began(p.ofDecisions(scores))
	p.label(scores)
	rising := &schedule.Rising{Parts: p.levels(), Full: r.Objective.Weight, End: ending.NoSwitch}
	r.Path.Follow(p.exchange(false), p, doubling{rising, p.ratio}, minimize.Limits{})
	return p.complete(p.exchange(true))
}

// supervisedPairs is the supervised solution, by the dual.
func supervisedPairs(r *Run) *Solution {
	p := newPairs(r)
	if r.Objective.Start != nil {
		p.dual.Resume(p.startScores())
	}
	r.Path.Last = p.solveDual(r.Options.Tol, finalEpochs)
	r.Path.Record(0, 0)
	r.Path.Reason, r.Path.Steps = ending.Converged, 1
	return p.read()
}

// pairs are the belief: labels of two classes, each with a dual variable.
type pairs struct {
	*Run
	sample      *sample.Sample
	dual        *dual.Descent
	positive    []bool // [unlabeled] labels
	plus, minus float64
	ratio       float64 // of these, on the way
	switched    int     // pairs, since the last Relabel
	helps       bool    // it would help to go on
}

// newDual is the dual problem of the labeled rows.
func newDual(r *Run, seed int) *dual.Descent {
	o := r.Objective
	d := dual.New(o.Job, o.Sample.Rows, o.Frame(), r.Loss.Squared, seed)
	for k, i := range o.Sample.Labeled {
		d.Sign[i] = sign(o.Sample.Class[k] == 1)
		d.Cost[i] = o.Sample.LabeledWeight[k] / o.Alpha
	}
	return d
}

// newPairs begins with the dual problem of the labeled rows.
func newPairs(r *Run) *pairs {
	o, d := r.Objective, newDual(r, r.Options.RandomState)
	p := &pairs{Run: r, sample: o.Sample, dual: d, ratio: o.Prior[0] / o.Prior[1]}
	r.Path.Measure = func() (value, share float64) {
		return r.measure(o.Loss(0), o.Alpha/2*d.Square(), p.ofDecisions(p.rowScores()))
	}
	return p
}

func sign(positive bool) float64 {
	if positive {
		return 1
	}
	return -1
}

const (
	firstCost    = 1e-5 // of C*
	looseGap     = 0.02 // relative duality gap of solves on the way
	looseEpochs  = 20
	switchEpochs = 5
	finalEpochs  = 2000
)

// levels are the parts of C* on the way: doubled until both costs are at it.
func (p *pairs) levels() (parts []float64) {
	for part := firstCost; part < 1 || part*p.ratio < 1; part *= 2 {
		parts = append(parts, part)
	}
	return parts
}

// doubling is the schedule of the costs on the way.
type doubling struct {
	*schedule.Rising
	ratio float64
}

// Level shows the larger cost.
func (d doubling) Level() (value, historyLevel float64) {
	value, _ = d.Rising.Level()
	return value, min(1, max(value, value*d.ratio)) * d.Full
}

// resume goes on from the start: labels by its scores, costs at C*, first loosely. At a solution with the squared hinge
// the duals follow from the scores.
func (p *pairs) resume() *Solution {
	scores := p.startScores()
	p.label(scores)
	p.ratio = 1
	p.Enter(1)
	p.dual.Resume(scores)
	loosely, exactly := p.exchange(false), p.exchange(true)
	return p.complete(func(limits minimize.Limits) minimize.Outcome {
		loosely(limits)
		p.Path.Steps++
		return exactly(limits)
	})
}

// complete is the last solve, at C*.
func (p *pairs) complete(solve path.Solver) *Solution {
	p.ratio = 1
	once := schedule.Once{At: 1, HistoryLevel: p.Objective.Weight, End: ending.NoSwitch}
	p.Path.Complete(solve, p, once, minimize.Limits{})
	if limit := p.Path.Limit(1); p.helps && limit != ending.None {
		p.Path.Reason = limit
	}
	return p.read()
}

// solveDual solves the dual problem.
func (p *pairs) solveDual(tolerance float64, epochs int) minimize.Outcome {
	primal, gap := p.dual.Solve(tolerance, epochs)
	return minimize.Outcome{Value: primal, Gap: gap, Converged: gap/primal <= p.Options.Tol}
}

// exchange solves and switches pairs at fixed costs until none is left or one step alone, each a step of the path. At
// the last costs each solve is exact, and may take the step that is left.
func (p *pairs) exchange(last bool) path.Solver {
	tolerance, epochs := looseGap, looseEpochs
	if last {
		tolerance, epochs = p.Options.Tol, finalEpochs
	}
	return func(minimize.Limits) minimize.Outcome {
		for first := true; ; first = false {
			if !first {
				p.Path.Steps++
			}
			outcome, before := p.solveDual(tolerance, epochs), p.switched
			pair := p.worst()
			for ; p.helps && p.Path.Limit(1) == ending.None; pair = p.worst() {
				for side, k := range pair {
					p.positive[k] = side == 0
					p.place(k)
				}
				p.switched++
				p.Path.Steps++
				p.dual.Solve(looseGap, switchEpochs)
			}
			if p.switched == before || !last && p.Path.Limit(1) != ending.None {
				return outcome
			}
		}
	}
}

// worst is the negative and the positive row whose exchange gains most; it finds whether it helps. Without prior costs
// both must have ξ > 0, as in the paper.
func (p *pairs) worst() (pair [2]int) {
	pair, most := [2]int{-1, -1}, [2]float64{-1, -1}
	if p.sample.PriorCosts != nil {
		most = [2]float64{math.Inf(-1), math.Inf(-1)}
	}
	for k, i := range p.sample.Unlabeled {
		side := 0
		if p.positive[k] {
			side = 1
		}
		if gain := p.gain(k, p.dual.Sign[i]*p.dual.Score(i)); gain > most[side] {
			pair[side], most[side] = k, gain
		}
	}
	nonZeros, rows := int64(p.sample.Rows.NonZeros()), int64(p.sample.Rows.Rows())
	p.Objective.Job.CountAndCheck(int64(len(p.sample.Unlabeled)) * nonZeros / rows)
	p.helps = pair[0] >= 0 && pair[1] >= 0 && most[0]+most[1] > 0
	return pair
}

// gain is what a row at this margin gains by the other label: ξ - 1, or with prior costs what the objective falls by.
func (p *pairs) gain(k int, margin float64) float64 {
	prior, own, other := p.sample.PriorOf(k), 0, 1
	if prior == nil {
		return -margin
	}
	levels := [2]float64{p.minus, p.plus}
	if p.positive[k] {
		own, other = 1, 0
	}
	cost := func(class int, margin float64) float64 {
		loss, _, _ := p.Loss.Margin.At(margin)
		return levels[class] * p.Objective.Weight * p.sample.UnlabeledWeight[k] * (loss + sample.PriorStrength*prior[class])
	}
	return cost(own, margin) - cost(other, -margin)
}

// label gives the unlabeled rows with the largest decisions [n] the positive label, as many as its share in the prior.
func (p *pairs) label(decisions []float64) {
	labels, costs := make([]int32, len(p.sample.Unlabeled)), make([]float64, 2*len(p.sample.Unlabeled))
	for k, i := range p.sample.Unlabeled {
		costs[2*k], costs[2*k+1] = decisions[i], -decisions[i]
		vector.Add(costs[2*k:][:len(p.sample.PriorOf(k))], sample.PriorStrength, p.sample.PriorOf(k))
	}
	labeling.CheapestLabels(p.Objective.Job, labels, costs, p.sample.UnlabeledWeight, p.Objective.Prior)
	p.positive = make([]bool, len(labels))
	for k, y := range labels {
		p.positive[k] = y == 1
		p.dual.Sign[p.sample.Unlabeled[k]] = sign(p.positive[k])
	}
}

// Enter sets the costs of the two labels, in parts of C*.
func (p *pairs) Enter(level float64) {
	p.plus, p.minus = min(1, level*p.ratio), min(1, level)
	for k := range p.sample.Unlabeled {
		p.place(k)
	}
}

// Relabel counts the labels that a solve has switched.
func (p *pairs) Relabel() (switched int, entropy float64) {
	switched, p.switched = 2*p.switched, 0
	return switched, 0
}

// place gives unlabeled row k its label and the cost of that side.
func (p *pairs) place(k int) {
	i, level := p.sample.Unlabeled[k], p.minus
	if p.positive[k] {
		level = p.plus
	}
	p.dual.Relabel(i, sign(p.positive[k]))
	p.dual.Cost[i] = level * p.Objective.Weight * p.sample.UnlabeledWeight[k] / p.Objective.Alpha
}

// rowScores are the scores [n] of all rows.
func (p *pairs) rowScores() []float64 { return rowScores(p.Run, p.dual) }

func rowScores(r *Run, d *dual.Descent) []float64 {
	s := r.Objective.Sample
	scores := make([]float64, s.Rows.Rows())
	for i := range scores {
		scores[i] = d.Score(int32(i))
	}
	r.Objective.Job.CountAndCheck(int64(s.Rows.NonZeros()))
	return scores
}

// startScores are the scores [n] of the start.
func (p *pairs) startScores() []float64 {
	scores, start := make([]float64, p.sample.Rows.Rows()), p.Objective.Start
	p.Objective.Job.CountAndCheck(int64(p.sample.Rows.NonZeros()))
	p.sample.Rows.Times(p.Objective.Job, scores, start.Coef())
	if p.sample.Options.FitIntercept {
		for i := range scores {
			scores[i] += start.Model.Intercept[0]
		}
	}
	return scores
}

// ofDecisions is the scorer of decisions [n].
func (p *pairs) ofDecisions(decisions []float64) objective.Scorer {
	return func(dst []float64, row int32) { p.Objective.Scores.ClassScores(dst, decisions[row:]) }
}

func (p *pairs) read() *Solution { return readDual(p.Run, p.dual) }

// readDual is the solution at the current weights.
func readDual(r *Run, d *dual.Descent) *Solution {
	coef, intercept := d.Linear()
	last, s := r.Path.Last, r.Objective.Sample
	out := &Solution{Coef: make([]float64, s.Features), Intercept: []float64{intercept}, Outputs: rowScores(r, d),
		Loss: r.Objective.Loss(0), Regularizer: r.Objective.Alpha / 2 * d.Square(), Converged: last.Converged,
		Unconverged: warning.NotConverged, Gap: last.Gap / last.Value}
	for k, w := range coef {
		out.Coef[s.Feature[k]] = w / s.Length
	}
	return out
}
