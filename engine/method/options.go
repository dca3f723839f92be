// Package method is the methods: a table of them, losses, options, and a file for each algorithm. Start at table.
package method

import (
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// Method is how unlabeled rows are learned from.
type Method string

// The methods that the table names.
const (
	auto      Method = "auto" // annealing or switching, whichever ends lower
	annealing Method = "annealing"
	switching Method = "switching"
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
		Options: sample.Options{ClassPrior: sample.ClassPrior{Rule: "auto"}, UnlabeledWeight: option.AutoWeight,
			FitIntercept: true},
		Method: auto, Alpha: option.AutoWeight, KLWeight: 0.1, Balance: "auto",
		Loss: SquaredHinge, MaxIter: 10000, Tol: 1e-5, Threads: 1,
	}
}

// maxWeight of the unlabeled rows: beyond it the labeled loss is below the tolerance of the solves.
const maxWeight = 1e6

var options = option.Table[Options]{
	{Name: "method", Kind: "string",
		Choices: names(),
		Meaning: "how unlabeled rows are used", Field: func(o *Options) any { return (*string)(&o.Method) }},
	{Name: "alpha", Kind: "number or auto", Exclusive: true,
		Meaning: "strength of the regularization; auto: 1e-3, or less if there are many rows",
		Field:   func(o *Options) any { return (*option.Weight)(&o.Alpha) }},
	{Name: "unlabeled_weight", Kind: "number or auto", Maximum: maxWeight,
		Meaning: "weight of the averaged loss of the unlabeled rows; auto: 1, or less if they are few",
		Field:   func(o *Options) any { return (*option.Weight)(&o.UnlabeledWeight) }},
	{Name: "class_prior", Kind: "string or numbers", Choices: sample.PriorRules,
		Meaning: "share of each class among the unlabeled rows; auto: estimated; labels: those of the labeled rows",
		Field:   func(o *Options) any { return &o.ClassPrior }},
	{Name: "class_names", Kind: "strings",
		Meaning: "names of the classes, for messages; null: their numbers",
		Field:   func(o *Options) any { return &o.ClassNames }},
	{Name: "class_weight", Kind: "numbers", Exclusive: true,
		Meaning: "factor on the weights of the labeled rows of each class, for their loss and not for class_prior; null: 1",
		Field:   func(o *Options) any { return &o.ClassWeight }},
	{Name: "kl_weight", Kind: "number", Exclusive: true,
		Meaning: "weight of the averaged divergence of labels and probabilities; posterior only",
		Field:   func(o *Options) any { return &o.KLWeight }},
	{Name: "balance", Kind: "string", Choices: balances,
		Meaning: "how the class prior is enforced", Field: func(o *Options) any { return &o.Balance }},
	{Name: "loss", Kind: "string", Choices: lossNames(),
		Meaning: "loss of a row",
		Field:   func(o *Options) any { return (*string)(&o.Loss) }},
	{Name: "hierarchy", Kind: "integers", Minimum: -1,
		Meaning: "parent of every node of the class tree, classes first, -1 at the top; null: no tree",
		Field:   func(o *Options) any { return &o.Hierarchy }},
	{Name: "fit_intercept", Kind: "boolean",
		Meaning: "whether the classifier has an intercept", Field: func(o *Options) any { return &o.FitIntercept }},
	{Name: "calibrate", Kind: "boolean",
		Meaning: "whether to calibrate probabilities, with five further fits",
		Field:   func(o *Options) any { return &o.Calibrate }},
	{Name: "max_switches", Kind: "integer",
		Meaning: "maximum number of label pairs exchanged at a time; 0: all that lower the objective",
		Field:   func(o *Options) any { return &o.MaxSwitches }},
	{Name: "max_iter", Kind: "integer", Minimum: 1,
		Meaning: "maximum number of outer steps", Field: func(o *Options) any { return &o.MaxIter }},
	{Name: "tol", Kind: "number", Exclusive: true,
		Meaning: "tolerance of the last solve: relative distance of its objective from the optimum",
		Field:   func(o *Options) any { return &o.Tol }},
	{Name: "threads", Kind: "integer", Minimum: 1,
		Meaning: "maximum number of threads", Field: func(o *Options) any { return &o.Threads }},
}

func textsOf[T ~string](list ...T) (texts []string) {
	for _, v := range list {
		texts = append(texts, string(v))
	}
	return texts
}

func OptionsText() string { return options.Text(Defaults()) }

func (o *Options) Values() map[string]any { return options.Values(o) }

// DecodeOptions reads a JSON object strictly: see option.Table. Empty text means all defaults.
func DecodeOptions(text []byte) (Options, error) {
	o, err := options.Decode(text, Defaults())
	if err != nil {
		return o, err
	}
	return o, o.ClassPrior.CheckRule()
}

// OfSample are the options of the sample that the method learns from.
func (o *Options) OfSample() sample.Options {
	out := o.Options
	out.ClassScores, out.Vectors = o.Loss.Spec().ClassScores, Find(o.Method).Vectors
	return out
}

// Agree refuses options that do not go together.
func (o *Options) Agree() error {
	switch spec := Find(o.Method); {
	case !slices.Contains(spec.Losses, o.Loss):
		return fault.Argument("loss is %q, but method %s supports %s", o.Loss, o.Method,
			strings.Join(textsOf(spec.Losses...), ", "))
	case spec.UsesProbabilities && o.Balance != "auto":
		return fault.Argument("balance is %q, but method %s constrains the mean of the probabilities instead: leave "+
			"balance at \"auto\"", o.Balance, o.Method)
	case o.Balance == "mean" && o.Loss.Spec().ClassScores:
		return fault.Argument("balance is \"mean\", which needs a loss of margins, but loss is %q: use "+
			"\"share\" or \"labels\"", o.Loss)
	}
	return nil
}

// Together refuses what a group of machines cannot do.
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
