package sequence

import (
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
)

// Options are the settings of a fit of label sequences. Defaults and legal ranges are written here and nowhere
// else.
type Options struct {
	Alpha       float64
	Loss        string
	Rho         float64
	MaxIter     int
	Forbidden   []int // pairs of tags, one behind the other: from, to; -1 is the start or the end
	Threads     int
	RandomState int

	Method          Method
	UnlabeledWeight float64   // option.AutoWeight: what suits the numbers of tokens
	ClassPrior      []float64 // shares of the tags among the tokens of sequences without a label; empty: those of labels
	PenaltyWeight   float64
}

// Method is how sequences without any label are used.
type Method string

// The methods.
const (
	Supervised Method = "supervised" // not at all
	Gradient   Method = "gradient"
	Posterior  Method = "posterior"
)

var table = option.Table[Options]{
	{Name: "alpha", Kind: "number", Exclusive: true,
		Meaning: "strength of the regularization", Field: func(o *Options) any { return &o.Alpha }},
	{Name: "loss", Kind: "string", Choices: []string{"softmax_margin", "crf", "soft_hinge"},
		Meaning: "loss of a sequence", Field: func(o *Options) any { return &o.Loss }},
	{Name: "rho", Kind: "number", Exclusive: true, Maximum: 100,
		Meaning: "sharpness of the loss soft_hinge", Field: func(o *Options) any { return &o.Rho }},
	{Name: "max_iter", Kind: "integer", Minimum: 1,
		Meaning: "epochs, doubled with unlabeled sequences", Field: func(o *Options) any { return &o.MaxIter }},
	{Name: "forbidden_transitions", Kind: "integers", Minimum: -1,
		Meaning: "pairs of tags, from and to, flattened; -1 is the start or the end",
		Field:   func(o *Options) any { return &o.Forbidden }},
	{Name: "method", Kind: "string", Choices: []string{string(Supervised), string(Gradient), string(Posterior)},
		Meaning: "how sequences without any label are used", Field: func(o *Options) any {
			return (*string)(&o.Method)
		}},
	{Name: "unlabeled_weight", Kind: "number or auto", Maximum: 1e6,
		Meaning: "weight of the averaged loss of sequences without any label; auto: 1, or less if they are few",
		Field:   func(o *Options) any { return (*option.Weight)(&o.UnlabeledWeight) }},
	{Name: "class_prior", Kind: "numbers", Exclusive: true, Maximum: 1,
		Meaning: "posterior: shares of the tags among the tokens of sequences without any label; none: those of the labels",
		Field:   func(o *Options) any { return &o.ClassPrior }},
	{Name: "penalty_weight", Kind: "number", Exclusive: true,
		Meaning: "posterior: weight of the squared distance from the class prior",
		Field:   func(o *Options) any { return &o.PenaltyWeight }},
	{Name: "threads", Kind: "integer", Minimum: 1,
		Meaning: "maximum number of threads", Field: func(o *Options) any { return &o.Threads }},
	{Name: "random_state", Kind: "integer",
		Meaning: "seed of the order of the sequences", Field: func(o *Options) any { return &o.RandomState }},
}

// Defaults are the options where none are given.
func Defaults() Options {
	return Options{Alpha: 1e-7, Loss: "softmax_margin", Rho: 10, MaxIter: epochs, Threads: 1, Method: Supervised,
		UnlabeledWeight: option.AutoWeight, PenaltyWeight: 1e4}
}

// DecodeOptions reads a JSON object strictly.
func DecodeOptions(text []byte) (Options, error) {
	options := Defaults()
	if err := table.Decode(text, &options); err != nil {
		return options, err
	}
	if len(options.Forbidden)%2 != 0 {
		return options, fault.Argument("forbidden_transitions has %d numbers: they must be pairs", len(options.Forbidden))
	}
	return options, nil
}

// OptionsText describes all options as a JSON array.
func OptionsText() string { return table.Text(Defaults()) }

// sequenceLoss is the loss of the options.
func (o Options) sequenceLoss() Loss {
	switch o.Loss {
	case "crf":
		return Soft{1, 0}
	case "soft_hinge":
		return Soft{o.Rho, 1}
	}
	return Soft{1, 1}
}
