package fit

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// setting is what all runs of a fit have in common; none changes it.
type setting struct {
	sample  *sample.Sample
	options method.Options
	scores  scores.Map
	prior   *sample.Prior
	named   *method.Row // by the options
	whole   int         // unlabeled rows of the sample that this one is a part of; 0: of none
	before  int         // steps of a fit before, see known.go

	warnings []warning.Warning // of the shares and of the scales
}

// from is where a run begins: at a model, which a user or a fit of a part of the rows gives, or else at the supervised
// solution.
type from struct {
	model  *model.Linear
	row    *method.Row // method that chose the model; nil: that of the options
	steps  int         // before
	origin origin      // of the run before
}

// newSetting refuses what the sample does not allow, and finds the class shares.
func newSetting(s *sample.Sample, options method.Options, start *model.Linear) (x *setting, err error) {
	options.Options = s.Options
	x = &setting{sample: s, options: options, named: method.Find(options.Method)}
	if options.Alpha == option.AutoWeight {
		x.options.Alpha = usualAlpha(x.rows())
	}
	if start != nil && !s.Constant() {
		if err := objective.CheckStart(s, start); err != nil {
			return nil, err
		}
	}
	if s.Classes() > s.All.Rows && !s.Paired() {
		return nil, fault.Argument("class_prior has %d classes, more than the %d rows", s.Classes(), s.All.Rows)
	}
	if x.scores, err = objective.Map(s); err != nil {
		return nil, err
	}
	if x.prior, err = s.Prior(s.Classes()); err != nil {
		return nil, err
	}
	x.warnings = slices.Concat(x.prior.Warnings, s.ScaleWarnings())
	return x, nil
}

// newRun is a run of a method.
func (x *setting) newRun(job *work.Job, row *method.Row, begin from, bound float64) *method.Run {
	warm := begin.model != nil
	o, atOnce := x.objective(job, row), warm || bound > 0 && x.direct()
	if warm {
		o.Start = &objective.Start{Sample: x.sample, Model: begin.model}
	}
	r := &method.Run{Options: &x.options, Loss: x.options.Loss.Row(), Objective: o, Costs: belief.NewCosts(o),
		AtOnce: atOnce, Path: &path.Path{Job: job, Trace: x.trace(job, row, x.before+begin.steps),
			Limits: path.NewLimits(x.options.Tol, x.options.MaxIter, warm)}}
	if atOnce {
		r.Path.Bound, r.Path.AtEnd = bound, warm
	}
	return r
}

// trace has the columns of the method of the options, which may have chosen another one: that one's weights are no
// temperatures.
func (x *setting) trace(job *work.Job, row *method.Row, before int) *trace.Trace {
	t := &trace.Trace{Job: job, Unit: x.sample.Pass, Before: before, Level: x.named.Level, Share: "share_distance",
		NoLevel: x.named.Level != row.Level, WithEntropy: x.named.Soft,
		Warnings: slices.Clone(x.warnings)}
	if x.sample.Paired() {
		t.Share = "positive_share"
	}
	return t
}

// objective is what a method minimizes.
func (x *setting) objective(job *work.Job, row *method.Row) *objective.Objective {
	l, paired := x.options.Loss.Row(), x.sample.Paired()
	o := &objective.Objective{Sample: x.sample, Job: job, Classes: x.sample.Classes(), Scores: x.scores,
		Prior: x.prior.Shares, Alpha: x.options.Alpha, Weight: x.options.UnlabeledWeight, Loss: l.Of(paired),
		Smoothings: l.Smoothings, Centered: x.centered(row), MeanScore: objective.TwoSides,
		Unlabeled: objective.Cheapest}
	if row.OwnLoss != nil { // scores are compared with each other, and not with two sides
		o.Loss = func(float64) loss.Classes { return row.OwnLoss(paired) }
		o.MeanScore, o.Unlabeled = objective.OneSide, objective.Given
	}
	return o
}

// usualAlpha is α where none is given. It falls with the root of the number of rows, as the error of a mean over them
// does: the more rows, the more weights are determined. At a larger α features that hardly occur have no say, and the
// gap between classes that show in such features is not the widest. Measured with true shares, 60 and 200 labels: on
// planted rows of which one word in ten depends on the class errors of 41 and 22 % at α = 1e-3 become 1.2 and 1.6 %
// (100,000 rows), 44 % become 0.9 % (1,000,000, 60 labels; a third of the time). On 20,711 rows of RCV1 (GCAT, MCAT,
// CCAT; 5, 20 and 80 labels a class, three draws) macro F changes by -.001 to .002.
func usualAlpha(rows float64) float64 { return mostAlpha * min(1, math.Sqrt(manyRows/rows)) }

const (
	mostAlpha = 1e-3
	manyRows  = 1 << 14
)

// direct reports whether λ' is so small that hard labels settle at once about as well as step by step, and a part of
// the rows shows what all do: at most MostOverAlpha α, or more where more rows decide, as they do for a part of them.
func (x *setting) direct() bool {
	return x.whole > 0 ||
		x.options.UnlabeledWeight <= method.MostOverAlpha*x.options.Alpha*(mostAlpha/usualAlpha(x.rows()))
}

// balance of a method resolves "auto": the linear constraint for annealing, where it needs the fewest passes; label
// counts for both kinds of switching, which find small classes better without it, and for losses whose scores have no
// sides. Where the shares were found and the labels were probably picked, class by class, thresholds stay where the
// labels put them: such labels count rare classes as much as others, and a threshold that moves to an estimate takes
// over its error. Measured on Reuters R8, k1b, fbis and wap, 5, 20 and 80 labels of each class: macro F 0.01 better on
// average, and no worse than the supervised model where it was up to 0.013 worse.
func (x *setting) balance(row *method.Row) string {
	switch {
	case x.options.Balance != "auto":
		return x.options.Balance
	case x.prior.Picked && !row.KeepsMean:
		return "labels"
	case row.Balance == "mean" && x.options.Loss.Row().ClassScores:
		return "share"
	}
	return row.Balance
}

// centered reports whether the mean score of the unlabeled rows is held at 2r - 1, with r the share of the class.
func (x *setting) centered(row *method.Row) bool {
	return x.options.FitIntercept && x.sample.Transductive() && x.balance(row) == "mean"
}

// movesThreshold reports whether the intercepts are moved at the end so that each class gets its share.
func (x *setting) movesThreshold(row *method.Row) bool {
	return x.options.FitIntercept && x.sample.Transductive() && x.balance(row) != "labels"
}
