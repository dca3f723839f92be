package sequence

import (
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
)

// Options are the settings of a fit. Defaults and legal ranges are written here and nowhere else.
type Options struct {
	Alpha       float64
	Loss        string
	Rho         float64
	MaxIter     int
	Forbidden   []int // pairs of tags, one behind the other: from, to; -1 is the start or the end
	Threads     int
	RandomState int

	Method          string
	UnlabeledWeight float64   // option.AutoWeight: what suits the numbers of tokens
	ClassPrior      []float64 // shares of the tags among the tokens of sequences without a label; empty: those of labels
	PenaltyWeight   float64
}

const supervised = "supervised"

// methods are how sequences without any label are used.
var methods = map[string]struct {
	begin  func(s *sample, unlabeled []int, tokens, factor float64) belief // nil: not at all
	scores float64                                                         // kept of a token and tag
}{supervised: {}, "gradient": {newAmbiguity, 0}, "posterior": {newPosterior, 1}}

var table = option.Table[Options]{
	{Name: "alpha", Kind: "number", Exclusive: true,
		Meaning: "strength of the regularization", Field: func(o *Options) any { return &o.Alpha }},
	{Name: "loss", Kind: "string", Choices: []string{"softmax_margin", "crf", "soft_hinge"},
		Meaning: "loss of a sequence", Field: func(o *Options) any { return &o.Loss }},
	{Name: "rho", Kind: "number", Exclusive: true, Maximum: 100,
		Meaning: "sharpness of the loss soft_hinge", Field: func(o *Options) any { return &o.Rho }},
	{Name: "max_iter", Kind: "integer", Minimum: 1,
		Meaning: "epochs, doubled with unlabeled sequences", Field: func(o *Options) any { return &o.MaxIter }},
	{Name: "forbidden_transitions", Kind: "integers", Minimum: -1, Field: func(o *Options) any { return &o.Forbidden },
		Meaning: "pairs of tags, from and to, flattened; -1 is the start or the end"},
	{Name: "method", Kind: "string", Choices: []string{supervised, "gradient", "posterior"},
		Meaning: "how sequences without any label are used", Field: func(o *Options) any { return &o.Method }},
	{Name: "unlabeled_weight", Kind: "number or auto", Maximum: 1e6,
		Meaning: "weight of the averaged loss of sequences without any label; auto: 1, or less if they are few",
		Field:   func(o *Options) any { return (*option.Weight)(&o.UnlabeledWeight) }},
	{Name: "class_prior", Kind: "numbers", Exclusive: true, Maximum: 1,
		Meaning: "posterior: shares of the tags among the tokens of sequences without any label; none: those of the labels",
		Field:   func(o *Options) any { return &o.ClassPrior }},
	{Name: "penalty_weight", Kind: "number", Exclusive: true, Field: func(o *Options) any { return &o.PenaltyWeight },
		Meaning: "posterior: weight of the squared distance from the class prior"},
	{Name: "threads", Kind: "integer", Minimum: 1,
		Meaning: "maximum number of threads", Field: func(o *Options) any { return &o.Threads }},
	{Name: "random_state", Kind: "integer",
		Meaning: "seed of the order of the sequences", Field: func(o *Options) any { return &o.RandomState }},
}

// Defaults are the options where none are given.
func Defaults() Options {
	return Options{Alpha: 1e-7, Loss: "softmax_margin", Rho: 10, MaxIter: epochs, Threads: 1, Method: supervised,
		UnlabeledWeight: option.AutoWeight, PenaltyWeight: 1e4}
}

func DecodeOptions(text []byte) (Options, error) {
	options, err := table.Decode(text, Defaults())
	if err == nil && len(options.Forbidden)%2 != 0 {
		err = fault.Argument("forbidden_transitions has %d numbers: they must be pairs", len(options.Forbidden))
	}
	return options, err
}

func OptionsText() string { return table.Text(Defaults()) }

func (o Options) loss() SoftmaxMargin {
	return map[string]SoftmaxMargin{"softmax_margin": {1, 1}, "crf": {1, 0}, "soft_hinge": {o.Rho, 1}}[o.Loss]
}
