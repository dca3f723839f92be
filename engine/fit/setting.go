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
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// setting is common to all runs of a fit, which only read it.
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
	soft    bool           // a part, whose scores move the shares or are a start: it ends with soft labels
	views   float64        // part of the weight of the views in a committee; 0: there is none

	warnings []warning.Warning // of the shares and of the scales
	trained  *record
}

// start is where a run begins: at a model of the user or of a part of the rows, or else at the supervised solution.
type start struct {
	model *model.Linear
	spec  *method.Spec // of the method that chose the model; nil: that of the options
	steps int          // before
	// Unlabeled rows, perhaps a part, by the supervised solution where a method began; nil: it began elsewhere.
	origin classed
}

// open checks a problem and finds the class shares of its unlabeled rows.
func open(p sample.Problem, options method.Options, job *work.Job) (*setting, error) {
	s, err := sample.New(p, options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	if s.All.Weak && s.Transductive() {
		return openWeak(s, p, options)
	}
	return newSetting(s, p, options, &record{})
}

// newSetting refuses options that do not suit a sample, and finds the class shares.
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
	if evidence := x.prior.Evidence; evidence != nil {
		trained.add("class_prior", evidence.Models, evidence.Visited, s.Pass)
	}
	x.warnings = slices.Concat(x.prior.Warnings, s.ScaleWarnings())
	return x, nil
}

func (x *setting) newRun(job *work.Job, spec *method.Spec, begin start, bound float64) *method.Run {
	warm := begin.model != nil
	o, atOnce := x.objective(job, spec), warm || bound > 0 && x.direct()
	o.Start = begin.model
	r := &method.Run{Options: &x.options, Loss: x.options.Loss.Spec(), Objective: o, Costs: belief.NewCosts(o),
		Soft: x.soft, AtOnce: atOnce, Path: &path.Path{Trace: x.trace(job, spec, x.before+begin.steps),
			Limits: path.NewLimits(x.options.Tol, x.options.MaxIter, warm)}}
	if atOnce {
		r.Path.Bound, r.Path.AtEnd = bound, warm
	}
	return r
}

// trace has the columns of the method of the options; the levels of another method that runs for it are left out.
func (x *setting) trace(job *work.Job, spec *method.Spec, before int) *path.Trace {
	t := &path.Trace{Job: job, Unit: x.sample.Pass, Before: before, Level: x.named.Level, Share: "share_distance",
		NoLevel: x.named.Level != spec.Level, WithEntropy: x.named.SoftLabels,
		Warnings: slices.Clone(x.warnings)}
	if x.sample.Paired() {
		t.Share = "positive_share"
	}
	return t
}

func (x *setting) objective(job *work.Job, spec *method.Spec) *objective.Objective {
	l, paired := x.options.Loss.Spec(), x.sample.Paired()
	o := &objective.Objective{Sample: x.sample, Job: job, Classes: x.sample.Classes(), Scores: x.scores,
		Prior: x.prior.Shares, Alpha: x.options.Alpha, Weight: x.options.UnlabeledWeight, Loss: l.Of(paired),
		Smoothings: l.Smoothings, OwnLoss: spec.OwnLoss != nil,
		Centered: x.options.FitIntercept && x.sample.Transductive() && x.balance(spec) == "mean"}
	if o.OwnLoss {
		o.Loss = func(float64) loss.Classes { return spec.OwnLoss(paired) }
	}
	return o
}

// usualAlpha is α where none is given. It falls with the root of the number of rows, as the error of a mean over them
// does: more rows determine more weights, also of rare features (docs/notes/alpha.md).
func usualAlpha(rows float64) float64 { return maxAlpha * min(1, math.Sqrt(manyRows/rows)) }

const (
	maxAlpha = 1e-3
	manyRows = 1 << 14
)

// direct reports whether λ' is so small that hard labels settle at once about as well as in steps, and a part of the
// rows is a good start: at most MaxOverAlpha times the α of fewer rows.
func (x *setting) direct() bool {
	return x.whole > 0 ||
		x.options.UnlabeledWeight <= method.MaxOverAlpha*x.options.Alpha*(maxAlpha/usualAlpha(x.rows()))
}

// balance of a method resolves "auto". Where shares were estimated and labels were probably chosen class by class,
// thresholds stay near where the labels put them: moved to an estimate they take over its error (docs/notes/alpha.md).
func (x *setting) balance(spec *method.Spec) string {
	switch {
	case x.options.Balance != "auto":
		return x.options.Balance
	case x.prior.ChosenLabels && !spec.KeepsMean:
		return "labels"
	case spec.Balance == "mean" && x.options.Loss.Spec().ClassScores:
		return "share"
	}
	return spec.Balance
}

// thresholdPart is the part of the way that the intercepts move at the end to where each class gets its share. Where
// the labels hold them, it grows with the number of labels, as the estimate of the shares gets better.
func (x *setting) thresholdPart(spec *method.Spec) float64 {
	switch {
	case !x.options.FitIntercept || !x.sample.Transductive() || x.options.Balance == "labels":
		return 0
	case x.balance(spec) != "labels":
		return 1
	}
	l := x.labelsOfClass()
	return l / (l + holdingLabels)
}

const holdingLabels = 20 // labels a class that hold the thresholds as much as the estimated shares move them
