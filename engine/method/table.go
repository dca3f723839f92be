// Package method is the methods: a table of them, losses, options, and a file for each algorithm. Start at table.
package method

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/sample"
)

type Spec struct {
	Name   Method
	fit    func(d *descent) *Solution // from a start or the supervised solution; nil: Begins does, or
	direct func(r *Run) *Solution     // in one go: a member of a fit, no method of the options
	Losses []Loss                     // that it supports
	// Balance that measured best: "mean" takes the fewest passes, but finds small classes less well.
	Balance           string                         // "labels": thresholds stay where the labels put them
	KeepsMean         bool                           // the balance stays where labels were picked by class
	Level             string                         // column of the history: what changes from step to step
	SoftLabels        bool                           // whether it has soft labels
	Vectors           int                            // of weights that it keeps
	OwnLoss           func(paired bool) loss.Classes // of all rows, unlabeled ones too; nil: that of the options
	UsesProbabilities bool                           // whether it learns from probabilities, not from labels
	OneMachine        bool                           // whether ranks cannot share the rows

	Begins      Method // that runs first,
	Compares    Method // and is compared with at its end, or averaged with others; empty: the method itself runs alone
	CoarseStart bool   // whether a fit of two classes with many rows begins with a part of them
}

var labelLosses = []Loss{autoLoss, SquaredHinge, Hinge, CrammerSinger, Maxent}

// All methods, in the order of the pages.
var table = []Spec{
	{Name: auto, Begins: annealing, Compares: switching, Losses: labelLosses, Balance: "mean", Level: "temperature",
		SoftLabels: true, CoarseStart: true},
	{Name: annealing, fit: anneal, Losses: labelLosses, Balance: "mean", Level: "temperature",
		SoftLabels: true, CoarseStart: true},
	{Name: switching, fit: switchLabels, Losses: labelLosses, Balance: "share", Level: "unlabeled_weight",
		CoarseStart: true},
	{Name: "pair_switching", fit: switchPairs, Losses: labelLosses, Balance: "share", Level: "unlabeled_weight",
		OneMachine: true},
	{Name: "gradient", fit: descend, OwnLoss: gradientLoss, Losses: []Loss{autoLoss, SquaredHinge}, Balance: "mean",
		KeepsMean: true, Level: "unlabeled_weight", Vectors: 2*descentPairs + 7},
	{Name: "entropy", fit: func(d *descent) *Solution { return regularize(d, d.Objective.Weight) }, Balance: "labels",
		Losses: []Loss{Maxent}, Level: "unlabeled_weight", UsesProbabilities: true},
	{Name: "expectation", fit: func(d *descent) *Solution { return regularize(d, 0) }, Balance: "share",
		Losses: []Loss{Maxent}, Level: "unlabeled_weight", UsesProbabilities: true},
	{Name: "posterior", fit: project, Losses: []Loss{Maxent}, Balance: "share", Level: "unlabeled_weight",
		UsesProbabilities: true},

	// Members of a fit that are no methods of the options.
	{Name: Supervised, direct: supervise, Balance: "mean"},
	{Name: Mixture, direct: mix},
	{Name: AtScores, direct: atScores, Balance: "mean"},
}

func Find(name Method) *Spec {
	return &table[slices.IndexFunc(table, func(s Spec) bool { return s.Name == name })]
}

func (s *Spec) First() *Spec { return Find(cmp.Or(s.Begins, s.Name)) }

type Loss string

const (
	autoLoss      Loss = "auto" // see UsualLoss
	SquaredHinge  Loss = "squared_hinge"
	Hinge         Loss = "hinge"
	CrammerSinger Loss = "crammer_singer"
	Maxent        Loss = "maxent"
)

type LossSpec struct {
	Name        Loss
	Margin      func(smoothing float64) loss.Margin  // of a pair; one of all class scores has pairs of one class only
	Classes     func(smoothing float64) loss.Classes // of many classes; nil: each against the rest, by margins
	ClassScores bool                                 // it compares the scores of all classes
	Smoothings  []float64                            // decreasing; the first one until the last solves
	Temperature float64                              // usual one with many labels, see fit.Calibration
	Free        bool                                 // unlabeled rows cost nothing at T = λ': annealing begins there
}

// Smoothings of the hinges: Crammer & Singer ends within smoothing * log K of the hinge, margins within a quarter band.
var (
	smoothings = []float64{0.1, 0.03, 0.01, 0.003, 0.001}
	bands      = []float64{0.3, 0.1, 0.03, 0.01, 0.003}
)

// usualTemperature is about what many labels give; scores of loss maxent are logarithms of odds.
const usualTemperature = 0.2

var losses = []LossSpec{
	{Name: autoLoss}, // until the sample is known
	{Name: SquaredHinge, Margin: squaredHinge, Smoothings: []float64{0}, Temperature: usualTemperature},
	{Name: Hinge, Margin: hinge, Smoothings: bands, Temperature: usualTemperature},
	{Name: CrammerSinger, Margin: squaredHinge, ClassScores: true, Smoothings: smoothings,
		Classes:     func(smoothing float64) loss.Classes { return loss.Softmax{Smoothing: smoothing, Margin: 1} },
		Temperature: usualTemperature},
	{Name: Maxent, Margin: squaredHinge, ClassScores: true, Smoothings: []float64{0}, Temperature: 1, Free: true,
		Classes: func(float64) loss.Classes { return loss.Softmax{Smoothing: 1} }},
}

func squaredHinge(float64) loss.Margin { return loss.SquaredHinge{} }

func hinge(band float64) loss.Margin { return loss.Huber{Band: band} }

func (l Loss) Spec() *LossSpec {
	return &losses[slices.IndexFunc(losses, func(s LossSpec) bool { return s.Name == l })]
}

// Of is the loss of a row's class scores; a pair has the scores of one column.
func (l *LossSpec) Of(paired bool) func(smoothing float64) loss.Classes {
	switch {
	case paired:
		return func(smoothing float64) loss.Classes { return loss.Signed{Margin: l.Margin(smoothing)} }
	case l.Classes == nil:
		return func(smoothing float64) loss.Classes { return loss.OneAgainstRest{Margin: l.Margin(smoothing)} }
	}
	return l.Classes
}

type Method string

// The methods that the table names.
const (
	auto      Method = "auto" // annealing, in a committee or compared with switching
	annealing Method = "annealing"
	switching Method = "switching"

	Supervised Method = "supervised"
	Mixture    Method = "mixture"
	AtScores   Method = "at_scores" // the solution at the labels that a mixture finds
)

// balances are the ways to hold the class prior; "auto" is the one that measured best for the method.
var balances = []string{"auto", "share", "mean", "labels"}

// Options are the settings of a fit. Defaults and legal ranges are written here and nowhere else.
type Options struct {
	sample.Options
	Method      Method
	Alpha       float64 // option.AutoWeight: what suits the number of rows
	KLWeight    float64
	Balance     string
	Loss        Loss
	Calibrate   bool
	MaxSwitches int // 0: all that help
	MaxIter     int
	Tol         float64
	Threads     int
}

func Defaults() Options {
	return Options{
		Options: sample.Options{ClassPrior: sample.ClassPrior{Rule: "auto"}, ClassWeight: sample.ClassWeight{Rule: "auto"},
			UnlabeledWeight: option.AutoWeight, FitIntercept: true},
		Method: auto, Alpha: option.AutoWeight, KLWeight: 0.1, Balance: "auto",
		Loss: autoLoss, MaxIter: 10000, Tol: 1e-5, Threads: 1,
	}
}

// maxWeight of the unlabeled rows: beyond it the labeled loss is below the tolerance of the solves.
const maxWeight = 1e6

func (o *Options) Table() option.Table {
	return option.Table{
		{Name: "method", Value: (*string)(&o.Method), Choices: choices(),
			Meaning: "how unlabeled rows are used"},
		{Name: "alpha", Value: (*option.Weight)(&o.Alpha), Exclusive: true,
			Meaning: "strength of the regularization; auto: 1e-3, or less if there are many rows"},
		{Name: "unlabeled_weight", Value: (*option.Weight)(&o.UnlabeledWeight), Maximum: maxWeight,
			Meaning: "weight of the averaged loss of the unlabeled rows; auto: 1, or less if they are few"},
		{Name: "class_prior", Value: &option.RuleOrNumbers{Rule: &o.ClassPrior.Rule, Numbers: &o.ClassPrior.Shares},
			Choices: sample.PriorRules,
			Meaning: "share of each class among the unlabeled rows; auto: estimated; labels: those of the labeled rows"},
		{Name: "class_names", Value: &o.ClassNames, Meaning: "names of the classes, for messages; null: their numbers"},
		{Name: "class_weight", Value: &option.RuleOrNumbers{Rule: &o.ClassWeight.Rule, Numbers: &o.ClassWeight.Factors},
			Choices: sample.WeightRules, Meaning: "factor on the weights of the labeled rows of each class, for " +
				"their loss and not for class_prior; auto: root of 'balanced' where the shares are estimated; none: 1"},
		{Name: "kl_weight", Value: &o.KLWeight, Exclusive: true,
			Meaning: "weight of the averaged divergence of labels and probabilities; posterior only"},
		{Name: "balance", Value: &o.Balance, Choices: balances, Meaning: "how the class prior is enforced"},
		{Name: "loss", Value: (*string)(&o.Loss), Choices: namesOf(losses, func(l LossSpec) Loss { return l.Name }),
			Meaning: "loss of a row; auto: crammer_singer for more than two classes of rows with fewer than 16 features " +
				"and than two a class, maxent with entropy, expectation and posterior, else squared_hinge"},
		{Name: "hierarchy", Value: &o.Hierarchy, Minimum: -1,
			Meaning: "parent of every node of the class tree, classes first, -1 at the top; null: no tree"},
		{Name: "fit_intercept", Value: &o.FitIntercept, Meaning: "whether the classifier has an intercept"},
		{Name: "calibrate", Value: &o.Calibrate, Meaning: "whether to calibrate probabilities, with five further fits"},
		{Name: "max_switches", Value: &o.MaxSwitches,
			Meaning: "maximum number of label pairs exchanged at a time; 0: all that lower the objective"},
		{Name: "max_iter", Value: &o.MaxIter, Minimum: 1, Meaning: "maximum number of outer steps"},
		{Name: "tol", Value: &o.Tol, Exclusive: true,
			Meaning: "tolerance of the last solve: relative distance of its objective from the optimum"},
		{Name: "threads", Value: &o.Threads, Minimum: 1, Meaning: "maximum number of threads"},
	}
}

// choices are the names of the methods of the options.
func choices() []string {
	offered := slices.DeleteFunc(slices.Clone(table), func(s Spec) bool { return s.Direct() })
	return namesOf(offered, func(s Spec) Method { return s.Name })
}

// Direct reports whether a spec is a member of a fit and no method of the options.
func (s *Spec) Direct() bool { return s.direct != nil }

func namesOf[T any, N ~string](entries []T, name func(T) N) (names []string) {
	for _, entry := range entries {
		names = append(names, string(name(entry)))
	}
	return names
}

func (o *Options) OfSample() sample.Options {
	out := o.Options
	out.ClassScores, out.Vectors = o.Loss.Spec().ClassScores, Find(o.Method).Vectors
	return out
}

// Agree checks options together. A method of one loss has it without being asked.
func (o *Options) Agree() error {
	spec := Find(o.Method)
	if o.Loss == autoLoss && len(spec.Losses) == 1 {
		o.Loss = spec.Losses[0]
	}
	switch {
	case !slices.Contains(spec.Losses, o.Loss):
		return fault.Argument("loss is %q, but method %s supports %s", o.Loss, o.Method,
			strings.Join(namesOf(spec.Losses, func(l Loss) Loss { return l }), ", "))
	case o.Balance == "mean" && o.Loss.Spec().ClassScores:
		return fault.Argument("balance is \"mean\", which needs a loss of margins, but loss is %q: use "+
			"\"share\" or \"labels\"", o.Loss)
	}
	return nil
}

// UsualLoss is the loss of a sample, if the options do not say which. With few features many classes lie among others,
// and no hyperplane has one of them alone on its side. Measured in docs/notes/loss.md.
func (o *Options) UsualLoss(s *sample.Sample) Loss {
	enough, compared := min(fewFeatures, featuresPerClass*s.Classes()), *o
	compared.Loss = CrammerSinger
	switch {
	case o.Loss != autoLoss:
		return o.Loss
	case s.Classes() > 2 && compared.Agree() == nil && s.Occurring(enough) < enough:
		return CrammerSinger
	}
	return SquaredHinge
}

const (
	featuresPerClass = 2
	fewFeatures      = 16 // with 77 classes in 8 32 100 features macro F is .006 higher, .02 and .013 lower
)

func (o *Options) Together() error {
	switch {
	case Find(o.Method).OneMachine:
		return fault.Argument("method is %q, which is not supported on several ranks: use annealing or switching", o.Method)
	case o.MaxSwitches > 0:
		return fault.Argument("max_switches is %d, which is not supported on several ranks: set it to 0", o.MaxSwitches)
	case o.Calibrate:
		return fault.Argument("calibrate is true, which is not supported on several ranks: calibrate on other labeled rows")
	}
	return nil
}
