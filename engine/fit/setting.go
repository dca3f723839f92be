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
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// setting is what all runs of a fit have in common; none changes it.
type setting struct {
	problem sample.Problem // of the caller
	sample  *sample.Sample
	options method.Options
	scores  scores.Map
	prior   *shares.Prior
	named   *method.Spec   // by the options
	whole   int            // unlabeled rows of the sample that this one is a part of; 0: of none
	weak    *sample.Sample // without copies of weakly labeled rows; nil: there are no such rows
	before  int            // steps of the first fit of weakly labeled rows

	warnings []warning.Warning // of the shares and of the scales
	trained  *record
}

// from is where a run begins: at a model, which a user or a fit of a part of the rows gives, or else at the supervised
// solution.
type from struct {
	model  *model.Linear
	spec   *method.Spec // of the method that chose the model; nil: that of the options
	steps  int          // before
	origin origin       // of the run before
}

// open makes a problem ready, and finds the class shares of its unlabeled rows.
func open(p sample.Problem, options method.Options, job *work.Job) (*setting, error) {
	s, err := sample.New(p, options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	if s.Weak != nil && s.Transductive() {
		return openWeak(s, p, options)
	}
	return newSetting(s, p, options, &record{})
}

// newSetting refuses what a sample of a problem does not allow, and finds the class shares.
func newSetting(s *sample.Sample, p sample.Problem, options method.Options, trained *record) (x *setting, err error) {
	options.Options = s.Options
	x = &setting{problem: p, sample: s, options: options, named: method.Find(options.Method), trained: trained}
	if options.Alpha == option.AutoWeight {
		x.options.Alpha = usualAlpha(x.rows())
	}
	if p.Start != nil && !s.Constant() {
		if err := objective.CheckStart(s, p.Start); err != nil {
			return nil, err
		}
	}
	if s.Classes() > s.All.Rows && !s.Paired() {
		return nil, fault.Argument("class_prior has %d classes, more than the %d rows", s.Classes(), s.All.Rows)
	}
	if x.scores, err = objective.Map(s); err != nil {
		return nil, err
	}
	if x.prior, err = shares.Find(s); err != nil {
		return nil, err
	}
	trained.add("class_prior", x.prior.Models, x.prior.Visited, s.Pass)
	x.warnings = slices.Concat(x.prior.Warnings, s.ScaleWarnings())
	return x, nil
}

// newRun is a run of a method.
func (x *setting) newRun(job *work.Job, spec *method.Spec, begin from, bound float64) *method.Run {
	warm := begin.model != nil
	o, atOnce := x.objective(job, spec), warm || bound > 0 && x.direct()
	if warm {
		o.Start = &objective.Start{Sample: x.sample, Model: begin.model}
	}
	r := &method.Run{Options: &x.options, Loss: x.options.Loss.Spec(), Objective: o, Costs: belief.NewCosts(o),
		AtOnce: atOnce, Path: &path.Path{Job: job, Trace: x.trace(job, spec, x.before+begin.steps),
			Limits: path.NewLimits(x.options.Tol, x.options.MaxIter, warm)}}
	if atOnce {
		r.Path.Bound, r.Path.AtEnd = bound, warm
	}
	return r
}

// trace has the columns of the method of the options, which may have chosen another one: that one's weights are no
// temperatures.
func (x *setting) trace(job *work.Job, spec *method.Spec, before int) *trace.Trace {
	t := &trace.Trace{Job: job, Unit: x.sample.Pass, Before: before, Level: x.named.Level, Share: "share_distance",
		NoLevel: x.named.Level != spec.Level, WithEntropy: x.named.Soft,
		Warnings: slices.Clone(x.warnings)}
	if x.sample.Paired() {
		t.Share = "positive_share"
	}
	return t
}

// objective is what a method minimizes.
func (x *setting) objective(job *work.Job, spec *method.Spec) *objective.Objective {
	l, paired := x.options.Loss.Spec(), x.sample.Paired()
	o := &objective.Objective{Sample: x.sample, Job: job, Classes: x.sample.Classes(), Scores: x.scores,
		Prior: x.prior.Shares, Alpha: x.options.Alpha, Weight: x.options.UnlabeledWeight, Loss: l.Of(paired),
		Smoothings: l.Smoothings, Centered: x.centered(spec), MeanScore: objective.TwoSides}
	if spec.OwnLoss != nil { // scores are compared with each other, and not with two sides
		o.Loss = func(float64) loss.Classes { return spec.OwnLoss(paired) }
		o.MeanScore, o.OwnLoss = objective.OneSide, true
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
func (x *setting) balance(spec *method.Spec) string {
	switch {
	case x.options.Balance != "auto":
		return x.options.Balance
	case x.prior.Picked && !spec.KeepsMean:
		return "labels"
	case spec.Balance == "mean" && x.options.Loss.Spec().ClassScores:
		return "share"
	}
	return spec.Balance
}

// centered reports whether the mean score of the unlabeled rows is held at 2r - 1, with r the share of the class.
func (x *setting) centered(spec *method.Spec) bool {
	return x.options.FitIntercept && x.sample.Transductive() && x.balance(spec) == "mean"
}

// movesThreshold reports whether the intercepts are moved at the end so that each class gets its share.
func (x *setting) movesThreshold(spec *method.Spec) bool {
	return x.options.FitIntercept && x.sample.Transductive() && x.balance(spec) != "labels"
}
