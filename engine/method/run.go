package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// Run is one run of a method: what it minimizes, and the path that it takes.
type Run struct {
	Options   *Options
	Objective *objective.Objective
	Costs     *belief.Costs
	Path      *path.Path
	Soft      bool      // annealing ends with soft labels, unless max_iter ends it
	Guessed   bool      // the shares are estimated
	Settled   bool      // a mixture has the class shares of the objective, not its own
	AtOnce    bool      // the schedule begins near its end: at a start, or where labels are to settle at once
	Scores    []float64 // [unlabeled, K] that atScores begins at
	Origin    []int32   // [unlabeled] classes of the supervised solution where it began; nil: it began elsewhere
}

// Solution is a fitted classifier: outputs f_y(x) = coef_y . x + intercept_y, from which the class scores come.
type Solution struct {
	Coef        []float64 // [features, outputs] in the problem's order and units
	Intercept   []float64 // [outputs]
	Outputs     []float64 // [n, outputs] of the training rows
	Loss        loss.Classes
	Regularizer float64
	Gap         float64 // bound on (objective - optimum) / objective at the final labels
	Converged   bool
	Unconverged warning.Kind // what to warn of if it has not
	SoftLabels  []float64    // [unlabeled, K] the last soft labels, or nil
}

func (s *Solution) Score(o *objective.Objective) objective.Scorer {
	width := o.Scores.Outputs()
	return func(dst []float64, row int32) { o.Scores.ClassScores(dst, s.Outputs[int(row)*width:]) }
}

type descent struct {
	*Run
	risk   *risk.Risk
	newton *minimize.Newton
}

// Fit runs a method from the start, or from the supervised solution if that is finite. All rows have scores there.
func (s *Spec) Fit(r *Run) *Solution {
	if s.direct != nil {
		return s.direct(r)
	}
	d := r.descent()
	if r.Objective.Start == nil {
		if r.Path.Last = d.newton.Minimize(d.risk, r.Path.Limits.Start()); !r.Path.Last.Finite() {
			r.Path.Reason = path.NotFinite
			return nil
		}
	}
	r.Costs.Admit(d.risk)
	if r.Objective.Start == nil {
		row, unlabeled := make([]float64, r.Objective.Classes), r.Objective.Sample.Unlabeled
		r.Origin = make([]int32, len(unlabeled))
		for k, i := range unlabeled {
			d.risk.Score(row, i)
			r.Origin[k] = int32(vector.Largest(row))
		}
	}
	return s.fit(d)
}

// descent is the risk of the labeled rows with its minimizer.
func (r *Run) descent() *descent {
	o, k := r.Objective, r.Objective.Risk()
	r.Path.Measure = func() (value, share float64) { return o.Measure(k.Loss, k.Regularizer(), k.Score) }
	return &descent{r, k, minimize.NewNewton(k.Dim(), o.Job.Pool)}
}

// exchange is the limit of the options on exchanges of labels.
func (r *Run) exchange() belief.Exchange {
	if r.Options.MaxSwitches == 0 {
		return nil
	}
	return func(labels []int32, costs []float64, classes int) {
		labeling.Switch(labels, costs, classes, r.Options.MaxSwitches)
	}
}

// follow takes the path through a schedule, with this number of Newton steps a solve, and reports whether it goes on.
func (d *descent) follow(f minimize.Objective, b path.Belief, s path.Schedule, steps int) (goesOn bool) {
	d.Path.Follow(d.solve(f), b, s, d.Path.Limits.Way(steps), 1)
	return d.Path.Reason != path.NotFinite && d.Path.Reason != path.GivenUp
}

// solve minimizes the risk in one of its forms by Newton steps.
func (d *descent) solve(f minimize.Objective) path.Solver {
	return func(limits minimize.Limits) minimize.Outcome { return d.newton.Minimize(f, limits) }
}

// sharpen lowers the smoothing of a loss.
func (d *descent) sharpen(outcome minimize.Outcome) minimize.Outcome {
	for _, smoothing := range d.Objective.Smoothings[1:] {
		d.risk.SetLoss(d.Objective.Loss(smoothing))
		outcome = d.newton.Minimize(d.risk, d.Path.Limits.Final)
	}
	return outcome
}

// settle is the end of a path of hard labels.
func (d *descent) settle(hard *belief.Hard, changed int, historyLevel float64) *Solution {
	solve := func(limits minimize.Limits) minimize.Outcome {
		outcome := d.newton.Minimize(d.risk, limits)
		outcome.Value += hard.Prior()
		return outcome
	}
	d.Path.Settle(solve, hard, d.sharpen, changed, historyLevel)
	return d.read(nil)
}

// read is the last use of the risk; soft are the last soft labels, or nil.
func (d *descent) read(soft []float64) *Solution {
	k, last, s := d.risk, d.Path.Last, d.Objective.Sample
	out := &Solution{Loss: k.Loss, Regularizer: k.Regularizer(), Gap: last.Gap / last.Value,
		Converged: last.Converged && last.Finite(), Unconverged: warning.NotConverged, SoftLabels: soft}
	out.Coef, out.Intercept, out.Outputs = k.Read(s.Feature, s.Features)
	vector.Scale(out.Coef, 1/s.Length)
	return out
}

func FitOneClass(r *Run) *Solution {
	s := r.Objective.Sample
	decision := float64(2*s.Class[0] - 1)
	r.Path.Trace.Warn(warning.OneClass, float64(s.Class[0]))
	r.Path.Reason = path.OneClass
	return &Solution{Coef: make([]float64, s.Features), Intercept: []float64{decision}, Loss: r.Objective.Loss(0),
		Outputs: slices.Repeat([]float64{decision}, s.Rows.Rows()), Converged: true}
}
