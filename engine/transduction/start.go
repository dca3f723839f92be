package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/dual"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// A fit can go on from an earlier model of the same features and classes, after labels were added.
//
//	Problem  that of the method, from other first weights
//	Source   ours: the alternation of Sindhwani & Keerthi 2006 goes downhill, so that weights which solved nearly the
//	         same problem are a point of its path near the end. Annealing begins at coolStart of its first temperature,
//	         soft labels from the start's scores; switching at softStart of it, for softSteps Newton steps; with
//	         max_switches, and pair by pair, it begins at the full weight of the unlabeled rows, labels from the
//	         start's scores. Without unlabeled rows the problem is convex and the solution the
//	         same from any start
//	Stops    as the method does
//	Cost     the last part of the method's path

// Annealing goes on from an earlier model at coolStart of its first temperature, and cools by warmCooling. Measured on
// comp.* of 20 Newsgroups, 45 labels and 20 more: 0.28 of the passes of a fresh fit, to an objective as low in the mean
// (single draws differ by 2 % both ways). From 0.1, cooling as in a fresh fit, it takes 0.6; below 0.02 it costs less,
// but ends higher the fewer rows there are.
const (
	coolStart   = 0.05
	warmCooling = 3.0
)

// Switching goes on from an earlier model with soft labels that are nearly hard: hard ones hardly leave the minimum of
// the model before, which the added labels have made a worse one than others. More steps, or warmer labels, end lower
// and cost more. The last solve of any warm fit begins near its end: steps by more conjugate gradients are cheaper
// there.
const (
	softStart      = 0.02 // of the first temperature of annealing
	softSteps      = 3
	softClassSteps = 2 // with many classes, where a step takes more passes
	warmForcing    = 0.2
)

// goesOnSoftly says whether switching begins at a start with soft labels: a limit on exchanges has none.
func (s *sample) goesOnSoftly() bool { return s.start != nil && s.options.MaxSwitches == 0 }

// softLimits are those of so many steps with soft labels.
func (s *sample) softLimits(steps int) minimize.Limits {
	limits := s.switchLimits()
	limits.MaxSteps = steps
	return limits
}

// checkStart refuses a start that is a model of something else.
func (s *sample) checkStart(features, classes int) error {
	start := s.start
	switch {
	case start.Features != features:
		return fault.Argument("start has %d features, but the rows have %d", start.Features, features)
	case start.Classes != classes:
		return fault.Argument("start has %d classes, but the labels and class_prior have %d", start.Classes, classes)
	}
	if err := start.Check(); err != nil {
		return fault.Argument("start: %v", err)
	}
	unit := s.length
	for _, list := range [][]float64{start.Coef, start.Intercept} {
		for _, v := range list {
			if math.Abs(v)*unit >= hugeValue {
				return fault.Argument("start has the weight %v, too large to compute with", v)
			}
		}
		unit = 1
	}
	return nil
}

// startCoef are the weights of the start for the packed features in units of length, the outputs of a feature side by
// side.
func (s *sample) startCoef() []float64 {
	outputs := s.start.Outputs
	coef := make([]float64, len(s.feature)*outputs)
	for k, old := range s.feature {
		copy(coef[k*outputs:(k+1)*outputs], s.start.Coef[int(old)*outputs:])
	}
	vector.Scale(coef, s.length)
	return coef
}

// begin is where a transductive method begins: at the start, or at the supervised solution.
func (t *task) begin() (*risk.Risk, *minimize.Newton, minimize.Outcome) {
	if t.start == nil {
		return t.supervised(t.startLimits())
	}
	r := t.labeledRisk()
	return r, minimize.NewNewton(r.Dim(), t.job.Pool), minimize.Outcome{}
}

// begin is that of two classes for many.
func (t *classTask) begin() (*risk.Classes, *minimize.Newton, minimize.Outcome) {
	if t.start == nil {
		return t.supervised(t.startLimits())
	}
	r := t.risk()
	return r, minimize.NewNewton(r.Dim(), t.job.Pool), minimize.Outcome{}
}

// moveToStart moves the risk to the start, if there is one.
func (t *classTask) moveToStart(r *risk.Classes) {
	if t.start == nil {
		return
	}
	coef, intercept := t.startCoef(), t.start.Intercept
	if t.start.Outputs == 1 {
		coef, intercept = bothSides(coef), bothSides(intercept)
	}
	r.MoveTo(coef, intercept)
}

// bothSides are the weights of two classes whose difference is given.
func bothSides(difference []float64) []float64 {
	sides := make([]float64, 0, 2*len(difference))
	for _, v := range difference {
		sides = append(sides, -v/2, v/2)
	}
	return sides
}

// levels are the parts of their weight that the unlabeled rows have one after the other in switching.
func (s *sample) levels() []float64 {
	if s.start != nil || s.direct() {
		return []float64{1}
	}
	var levels []float64
	for level := firstLevel; level < 1; level *= raise {
		levels = append(levels, level)
	}
	return levels
}

// switchingOn goes on from the start: soft labels for a few steps, then hard ones settle.
func (t *task) switchingOn(r *risk.Risk, newton *minimize.Newton) solution {
	margin := loss.SquaredHinge{}
	t.softCosts(r.Plus, r.Minus, constant(len(t.unlabeled), t.prior))
	r.Recost()
	t.joined = true
	positive := make([]bool, len(t.unlabeled))
	t.topLabels(positive, r.Scores())
	end := ending{reason: "no_switch"}
	if !t.spent(&end) {
		energy := newFreeEnergy(t, r, margin)
		energy.temperature = softStart * t.firstTemperature(r.Scores(), margin)
		if outcome := newton.Minimize(energy, t.softLimits(softSteps)); lost(outcome) {
			return t.read(r, outcome, ending{reason: "not_finite"})
		}
		switched := t.relabel(positive, r.Scores())
		end.steps++
		t.record(r.Regularizer(), r.Scores(), margin, t.options.UnlabeledWeight, switched, 0)
	}
	return t.finish(r, newton, positive, 0, t.options.UnlabeledWeight, end)
}

// switchingOn is that of two classes for many.
func (t *classTask) switchingOn(r *risk.Classes, newton *minimize.Newton) classSolution {
	energy, labels := t.soften(r), make([]int32, len(t.unlabeled))
	labeling.Greedy(labels, t.costs, t.counts)
	t.cheapest(labels, t.costs)
	end := ending{reason: "no_switch"}
	if !t.spent(&end) {
		energy.temperature = softStart * t.firstTemperature()
		if outcome := newton.Minimize(energy, t.softLimits(softClassSteps)); lost(outcome) {
			return t.readClasses(r, outcome, ending{reason: "not_finite"})
		}
		switched := t.relabel(labels, r, true)
		end.steps++
		t.note(r, t.options.UnlabeledWeight, switched, 0)
	}
	return t.finish(r, newton, labels, 0, t.options.UnlabeledWeight, end)
}

// pairSwitchingOn goes on from the start: labels by its scores, costs at C*, first loosely. At a solution with the
// squared hinge the duals are those that the scores tell.
func (t *task) pairSwitchingOn(d *dual.Descent) solution {
	scores := t.startScores()
	if !t.transductive() {
		d.Resume(scores)
		return t.solveDual(d)
	}
	positive := make([]bool, len(t.unlabeled))
	t.topLabels(positive, scores)
	t.signs(d, positive)
	t.dualCosts(d, positive, 1, 1)
	d.Resume(scores)
	end := ending{reason: "no_switch"}
	_, loose := t.switchPairs(d, positive, 1, 1, false, &end)
	gap, exact := t.switchPairs(d, positive, 1, 1, true, &end)
	t.recordDual(d, 1, 2*(loose+exact))
	return t.readDual(d, gap, end)
}

// startScores are those [n] of the start.
func (t *task) startScores() []float64 {
	scores := make([]float64, t.rows.Rows())
	t.job.Visit(int64(t.rows.NonZeros()))
	t.rows.Times(t.job, scores, t.startCoef())
	if t.options.FitIntercept {
		for i := range scores {
			scores[i] += t.start.Intercept[0]
		}
	}
	return scores
}

// schedule is where annealing begins, given the first temperature of a fresh fit, and the factor by which it cools.
func (s *sample) schedule(first float64) (begin, factor float64) {
	if s.start != nil {
		return coolStart * first, warmCooling
	}
	return first, cooling
}
