package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
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

// Annealing goes on from an earlier model at coolStart of its first temperature, and cools by warmCoolBy. Measured on
// comp.* of 20 Newsgroups, 45 labels and 20 more: 0.18 of the passes of a fresh fit, which is compared with switching
// besides, to an objective as low in the mean (single draws differ by 3 % both ways). To begin warmer costs passes;
// below 0.02 it ends higher the fewer rows there are.
const (
	coolStart  = 0.05
	warmCoolBy = 3.0
)

// Switching goes on from an earlier model with soft labels that are nearly hard: hard ones hardly leave the minimum of
// the model before, which the added labels have made a worse one than others. More steps, or warmer labels, end lower
// and cost more. The last solve of any warm fit begins near its end: steps by more conjugate gradients are cheaper
// there.
const (
	softStart   = 0.02 // of the first temperature of annealing
	softSteps   = 2
	warmForcing = 0.2
)

// goesOnSoftly reports whether switching begins at a start with soft labels: a limit on exchanges has none.
func (t *task) goesOnSoftly() bool { return t.start != nil && t.Options.MaxSwitches == 0 }

// softLimits are those of the steps with soft labels.
func (t *task) softLimits() minimize.Limits {
	limits := t.switchLimits()
	limits.MaxSteps = softSteps
	return limits
}

// checkStart refuses a start that is a model of something else.
func checkStart(s *sample.Sample, start *model.Linear) error {
	features, classes := s.Features, s.Classes()
	switch {
	case start.Features != features:
		return fault.Argument("start has %d features, but the rows have %d", start.Features, features)
	case start.Classes != classes:
		return fault.Argument("start has %d classes, but the labels and class_prior have %d", start.Classes, classes)
	}
	if err := model.Check(start); err != nil {
		return fault.Argument("start: %v", err)
	}
	unit := s.Length
	for _, list := range [][]float64{start.Coef, start.Intercept} {
		for _, v := range list {
			if math.Abs(v)*unit >= sample.HugeValue {
				return fault.Argument("start has the weight %v, which is too large", v)
			}
		}
		unit = 1
	}
	return nil
}

// startCoef are the weights of the start for the packed features in units of length, the outputs of a feature side by
// side.
func (t *task) startCoef() []float64 {
	outputs := t.start.Outputs
	coef := make([]float64, len(t.Feature)*outputs)
	for k, old := range t.Feature {
		copy(coef[k*outputs:(k+1)*outputs], t.start.Coef[int(old)*outputs:])
	}
	vector.Scale(coef, t.Length)
	return coef
}

// begin is where a transductive method begins: at the start, or at the supervised solution.
func (t *task) begin() (*risk.Risk, *minimize.Newton, minimize.Outcome) {
	if t.start == nil {
		return t.supervised(t.startLimits())
	}
	r := t.risk()
	return r, minimize.NewNewton(r.Dim(), t.Job.Pool), minimize.Outcome{}
}

// moveToStart moves the risk to the start, if there is one.
func (t *task) moveToStart(r *risk.Risk) {
	if t.start == nil {
		return
	}
	coef, intercept := t.startCoef(), t.start.Intercept
	if t.start.Outputs < t.scores.Outputs() {
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

// switchingOn goes on from the start: soft labels for a few steps, then hard ones settle.
func (t *task) switchingOn(r *risk.Risk, newton *minimize.Newton) solution {
	soft, labels := t.soften(r), t.perUnit(make([]int32, len(t.Unlabeled)))
	t.cheapest(labels)
	if t.asked.Belief == method.Soft { // its result has distributions
		t.soft = r.Soft
	}
	end := stop{reason: ending.NoSwitch}
	if !t.atLimit(&end) {
		soft.enter(softStart * t.firstTemperature())
		if outcome := newton.Minimize(soft, t.softLimits()); !finite(outcome) {
			return t.read(r, outcome, stop{reason: ending.NotFinite})
		}
		switched := t.relabel(labels, r)
		r.Soft = nil
		end.steps++
		t.noteOwn(r, t.Options.UnlabeledWeight, switched, 0)
	}
	return t.finish(r, newton, labels, 0, t.Options.UnlabeledWeight, end)
}
