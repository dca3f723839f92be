package problem

import "github.com/fewlabel/fewlabel/engine/fault"

// ChainOptions are the settings of a fit of label sequences. Defaults and legal ranges are written here and nowhere
// else.
type ChainOptions struct {
	Alpha       float64
	Loss        string
	Cost        string
	Rho         float64
	Epsilon     float64
	Solver      string
	MaxIter     int // 0: that of the solver
	Tol         float64
	Forbidden   []int // pairs of tags, one behind the other: from, to; -1 is the start or the end
	Threads     int
	RandomState int
}

var chainTable = []option[ChainOptions]{
	{name: "alpha", kind: "number", exclusive: true,
		meaning: "strength of the regularization", field: func(o *ChainOptions) any { return &o.Alpha }},
	{name: "loss", kind: "string", choices: []string{"softmax_margin", "crf", "soft_hinge", "huber"},
		meaning: "loss of a sequence", field: func(o *ChainOptions) any { return &o.Loss }},
	{name: "cost", kind: "string", choices: []string{"hamming", "zero_one"},
		meaning: "cost of a wrong path: its wrong tags, or 1", field: func(o *ChainOptions) any { return &o.Cost }},
	{name: "rho", kind: "number", exclusive: true, maximum: 100,
		meaning: "sharpness of the loss soft_hinge", field: func(o *ChainOptions) any { return &o.Rho }},
	{name: "epsilon", kind: "number", exclusive: true,
		meaning: "half of the width of the rounded part of the loss huber",
		field:   func(o *ChainOptions) any { return &o.Epsilon }},
	{name: "solver", kind: "string", choices: []string{"stochastic", "lbfgs"},
		meaning: "how the objective is minimized", field: func(o *ChainOptions) any { return &o.Solver }},
	{name: "max_iter", kind: "integer",
		meaning: "largest number of epochs (stochastic) or steps (lbfgs); 0: 10 epochs, 1000 steps",
		field:   func(o *ChainOptions) any { return &o.MaxIter }},
	{name: "tol", kind: "number", exclusive: true,
		meaning: "lbfgs ends within this relative distance of the optimum",
		field:   func(o *ChainOptions) any { return &o.Tol }},
	{name: "forbidden_transitions", kind: "integers", minimum: -1,
		meaning: "pairs of tags, from and to, one behind the other; -1 before the first and after the last tag",
		field:   func(o *ChainOptions) any { return &o.Forbidden }},
	{name: "threads", kind: "integer", minimum: 1,
		meaning: "goroutines that work at a time", field: func(o *ChainOptions) any { return &o.Threads }},
	{name: "random_state", kind: "integer",
		meaning: "seed of the order of the sequences", field: func(o *ChainOptions) any { return &o.RandomState }},
}

// ChainDefaults are the options of label sequences when nothing is said.
func ChainDefaults() ChainOptions {
	return ChainOptions{Alpha: 1e-7, Loss: "softmax_margin", Cost: "hamming", Rho: 10, Epsilon: 0.5, Solver: "stochastic",
		Tol: 1e-4, Threads: 1}
}

// DecodeChainOptions is DecodeOptions for label sequences.
func DecodeChainOptions(text []byte) (ChainOptions, error) {
	options := ChainDefaults()
	if err := decode(text, &options, chainTable); err != nil {
		return options, err
	}
	if len(options.Forbidden)%2 != 0 {
		return options, fault.Argument("forbidden_transitions has %d numbers: they must be pairs", len(options.Forbidden))
	}
	return options, nil
}

// ChainOptionsText is OptionsText for label sequences.
func ChainOptionsText() string {
	defaults := ChainDefaults()
	return described(&defaults, chainTable)
}
