package structure

import "github.com/fewlabel/fewlabel/engine/option"

// The solvers of the auxiliary problems.
const (
	None    = "none"
	Squared = "squared"
)

// Options are the settings of Fit. Defaults and legal ranges are written here and nowhere else.
type Options struct {
	Components   int // an argument of its own: arrays have its length
	Solver       string
	Alpha        float64
	MaxIter      int
	Tol          float64
	Alternations int
	Unit         bool
	Threads      int
	RandomState  int
}

// Defaults are the options where none are given.
func Defaults() Options {
	return Options{Components: 50, Solver: None, Alpha: 1e-3, MaxIter: 4, Tol: 1e-3, Alternations: 1, Unit: true,
		Threads: 1}
}

var table = option.Table[Options]{
	{Name: "solver", Kind: "string", Choices: []string{None, Squared},
		Meaning: "how the auxiliary problems are solved", Field: func(o *Options) any { return &o.Solver }},
	{Name: "alpha", Kind: "number", Exclusive: true,
		Meaning: "strength of the regularization of the auxiliary problems", Field: func(o *Options) any { return &o.Alpha }},
	{Name: "max_iter", Kind: "integer", Minimum: 1,
		Meaning: "maximum number of conjugate gradient steps", Field: func(o *Options) any { return &o.MaxIter }},
	{Name: "tol", Kind: "number", Exclusive: true,
		Meaning: "relative residual at which a problem is solved", Field: func(o *Options) any { return &o.Tol }},
	{Name: "n_iter", Kind: "integer", Minimum: 1, Maximum: 1e6,
		Meaning: "rounds of weights and components", Field: func(o *Options) any { return &o.Alternations }},
	{Name: "unit", Kind: "boolean", Field: func(o *Options) any { return &o.Unit },
		Meaning: "whether every problem has the same weight in the components"},
	{Name: "threads", Kind: "integer", Minimum: 1,
		Meaning: "maximum number of threads", Field: func(o *Options) any { return &o.Threads }},
	{Name: "random_state", Kind: "integer",
		Meaning: "seed of the computation of the components", Field: func(o *Options) any { return &o.RandomState }},
}

// DecodeOptions reads a JSON object strictly; empty text means all defaults.
func DecodeOptions(text []byte) (Options, error) { return table.Decode(text, Defaults()) }

// OptionsText describes all options as a JSON array.
func OptionsText() string { return table.Text(Defaults()) }
