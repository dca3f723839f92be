package problem

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Method is how unlabeled rows are learned from.
type Method string

// The methods.
const (
	Annealing     Method = "annealing"
	Switching     Method = "switching"
	PairSwitching Method = "pair_switching"
	Entropy       Method = "entropy"
	Expectation   Method = "expectation"
	Posterior     Method = "posterior"
)

// Loss is the loss of a row.
type Loss string

// The losses.
const (
	SquaredHinge  Loss = "squared_hinge"
	Hinge         Loss = "hinge"
	CrammerSinger Loss = "crammer_singer"
	Maxent        Loss = "maxent"
)

func textsOf[T ~string](list ...T) (texts []string) {
	for _, v := range list {
		texts = append(texts, string(v))
	}
	return texts
}

// Options are the settings of Fit. Defaults and legal ranges are written here and nowhere else.
type Options struct {
	Method          Method
	Alpha           float64
	UnlabeledWeight float64 // autoWeight: what fits the numbers of rows
	ClassPrior      ClassPrior
	ClassWeight     []float64 // [classes] factors on the weights of the labeled rows; nil: all 1
	Constraint      string
	PenaltyWeight   float64
	KLWeight        float64
	Balance         string
	Loss            Loss
	Hierarchy       []int // [nodes] parent of each node of the class tree, -1 at the top; classes first; nil: no tree
	FitIntercept    bool
	Calibrate       bool
	MaxSwitches     int // 0: all that help
	MaxIter         int
	Tol             float64
	Threads         int
	RandomState     int
}

// Defaults are the options when nothing is said.
func Defaults() Options {
	return Options{
		Method: Annealing, ClassPrior: ClassPrior{Rule: "auto"}, Constraint: "equality", PenaltyWeight: 10, KLWeight: 0.1,
		Alpha: 1e-3, UnlabeledWeight: autoWeight,
		Balance: "auto", Loss: SquaredHinge, FitIntercept: true,
		MaxIter: 10000, Tol: 1e-5, Threads: 1,
	}
}

// option describes one field of Options, or of another O, for the outside: its name in JSON, Python and C, its range
// and its meaning.
type option[O any] struct {
	name, kind, meaning string
	field               func(o *O) any // pointer to the field
	choices             []string
	minimum             float64
	exclusive           bool    // minimum itself is not allowed
	maximum             float64 // 0: largestNumber
}

// mostWeight of the unlabeled rows: beyond it the labeled loss is lost in the tolerance of the solves, and these become
// hard without end.
const mostWeight = 1e6

var table = []option[Options]{
	{name: "method", kind: "string",
		choices: textsOf(Annealing, Switching, PairSwitching, Entropy, Expectation, Posterior),
		meaning: "how unlabeled rows are learned from", field: func(o *Options) any { return (*string)(&o.Method) }},
	{name: "alpha", kind: "number", exclusive: true,
		meaning: "strength of the regularization", field: func(o *Options) any { return &o.Alpha }},
	{name: "unlabeled_weight", kind: "number or auto", maximum: mostWeight,
		meaning: "weight of the averaged loss of the unlabeled rows; auto: 1, less where they are few",
		field:   func(o *Options) any { return (*weight)(&o.UnlabeledWeight) }},
	{name: "class_prior", kind: "string or numbers", choices: priorRules,
		meaning: "share of each class among the unlabeled rows; auto: found; labels: as among the labeled rows",
		field:   func(o *Options) any { return &o.ClassPrior }},
	{name: "class_weight", kind: "numbers", exclusive: true,
		meaning: "factor on the weights of the labeled rows of each class, for their loss and not for class_prior; null: 1",
		field:   func(o *Options) any { return &o.ClassWeight }},
	{name: "constraint", kind: "string", choices: []string{"equality", "penalty"},
		meaning: "how entropy and expectation hold the class prior",
		field:   func(o *Options) any { return &o.Constraint }},
	{name: "penalty_weight", kind: "number", exclusive: true,
		meaning: "weight of the divergence of mean probabilities from the class prior; constraint penalty only",
		field:   func(o *Options) any { return &o.PenaltyWeight }},
	{name: "kl_weight", kind: "number", exclusive: true,
		meaning: "weight of the averaged divergence of labels and probabilities; posterior only",
		field:   func(o *Options) any { return &o.KLWeight }},
	{name: "balance", kind: "string", choices: balances,
		meaning: "how the class prior is held", field: func(o *Options) any { return &o.Balance }},
	{name: "loss", kind: "string", choices: textsOf(SquaredHinge, Hinge, CrammerSinger, Maxent),
		meaning: "loss of a row; hinge with method pair_switching only",
		field:   func(o *Options) any { return (*string)(&o.Loss) }},
	{name: "hierarchy", kind: "integers", minimum: -1,
		meaning: "parent of every node of the class tree, classes first, -1 at the top; null: no tree",
		field:   func(o *Options) any { return &o.Hierarchy }},
	{name: "fit_intercept", kind: "boolean",
		meaning: "whether the classifier has an intercept", field: func(o *Options) any { return &o.FitIntercept }},
	{name: "calibrate", kind: "boolean",
		meaning: "whether to find a temperature that makes probabilities of decisions, by five further fits",
		field:   func(o *Options) any { return &o.Calibrate }},
	{name: "max_switches", kind: "integer",
		meaning: "pairs of labels exchanged at a time, 0: all that help",
		field:   func(o *Options) any { return &o.MaxSwitches }},
	{name: "max_iter", kind: "integer", minimum: 1,
		meaning: "largest number of outer steps", field: func(o *Options) any { return &o.MaxIter }},
	{name: "tol", kind: "number", exclusive: true,
		meaning: "the final solve ends within this relative distance of the optimum",
		field:   func(o *Options) any { return &o.Tol }},
	{name: "threads", kind: "integer", minimum: 1,
		meaning: "goroutines that work at a time", field: func(o *Options) any { return &o.Threads }},
	{name: "random_state", kind: "integer",
		meaning: "seed of the order of coordinates in pair_switching", field: func(o *Options) any { return &o.RandomState }},
}

// Probable says whether the method learns from the probabilities of the unlabeled rows instead of their labels.
func (o *Options) Probable() bool {
	return o.Method == Entropy || o.Method == Expectation || o.Method == Posterior
}

// Penalized says that the class prior is held at a cost only.
func (o *Options) Penalized() bool { return o.Constraint == "penalty" }

// OptionsText describes all options as a JSON array.
func OptionsText() string {
	defaults := Defaults()
	values := defaults.Values()
	list := make([]map[string]any, len(table))
	for k, o := range table {
		entry := map[string]any{"name": o.name, "type": o.kind, "meaning": o.meaning, "default": values[o.name]}
		switch {
		case o.choices != nil:
			entry["choices"] = o.choices
		case o.kind != "boolean":
			entry["minimum"], entry["exclusive_minimum"] = o.minimum, o.exclusive
		}
		if o.kind == "number" || o.kind == "number or auto" {
			entry["maximum"] = o.largest()
		}
		list[k] = entry
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Values are the options by their names.
func (o *Options) Values() map[string]any {
	values := map[string]any{}
	for _, option := range table {
		values[option.name] = option.field(o)
	}
	return values
}

// DecodeOptions reads a JSON object strictly: unknown names, wrong types and values out of range are errors that
// name the option. Options that are not there have their defaults; empty text means all defaults.
func DecodeOptions(text []byte) (Options, error) {
	options := Defaults()
	err := decode(text, &options, table)
	return options, err
}

func decode[O any](text []byte, options *O, table []option[O]) error {
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return fault.Argument("options must be a JSON object: %v", err)
	}
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if err := set(options, table, name, given[name]); err != nil {
			return err
		}
	}
	return nil
}

func set[O any](o *O, table []option[O], name string, value json.RawMessage) error {
	k := slices.IndexFunc(table, func(t option[O]) bool { return t.name == name })
	if k < 0 {
		return fault.Argument("unknown option %q; did you mean %q?", name, nearest(name, table))
	}
	t := table[k]
	if string(value) == "null" && !t.nullable(o) {
		return fault.Argument("%s is null: it must be %s", name, t.kindInWords())
	}
	if err := json.Unmarshal(value, t.field(o)); err != nil {
		return fault.Argument("%s is %s: it must be %s", name, value, t.kindInWords())
	}
	return t.check(o)
}

// nullable says that null has a meaning.
func (t option[O]) nullable(o *O) bool {
	switch t.field(o).(type) {
	case *[]float64, *[]int:
		return true
	}
	return false
}

func (t option[O]) kindInWords() string {
	switch t.kind {
	case "integer":
		return "an integer"
	case "integers", "numbers":
		return "an array of " + t.kind
	case "number or auto":
		return "a number or \"auto\""
	case "string or numbers":
		return "a string or an array of numbers"
	}
	return "a " + t.kind
}

func (t option[O]) check(o *O) error {
	switch field := t.field(o).(type) {
	case *string:
		if !slices.Contains(t.choices, *field) {
			return fault.Argument("%s is %q: it must be one of %s", t.name, *field, strings.Join(t.choices, ", "))
		}
	case *float64:
		return t.inRange(*field)
	case *int:
		return t.inRange(float64(*field))
	case *weight:
		if float64(*field) != autoWeight {
			return t.inRange(float64(*field))
		}
	case *[]float64:
		for _, value := range *field {
			if err := t.inRange(value); err != nil {
				return err
			}
		}
	case *ClassPrior:
		return field.check()
	}
	return nil
}

// largestNumber bounds the numbers: larger ones make sums overflow.
const largestNumber = 1e100

func (t option[O]) inRange(value float64) error {
	if value > t.largest() && !math.IsInf(value, 0) {
		return fault.Argument("%s is %v: it must be at most %v", t.name, value, t.largest())
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || value < t.minimum || t.exclusive && value == t.minimum {
		relation := "at least"
		if t.exclusive {
			relation = "above"
		}
		return fault.Argument("%s is %v: it must be %s %v", t.name, value, relation, t.minimum)
	}
	return nil
}

func (t option[O]) largest() float64 {
	if t.maximum > 0 {
		return t.maximum
	}
	return largestNumber
}

// agree refuses options that do not go together.
func (o *Options) agree() error {
	switch pairs := o.Method == PairSwitching; {
	case o.Loss == Hinge && !pairs:
		return fault.Argument("loss is \"hinge\": it goes with method pair_switching only, not with %s", o.Method)
	case pairs && o.Loss != Hinge && o.Loss != SquaredHinge:
		return fault.Argument("loss is %q: method pair_switching has the losses hinge and squared_hinge", o.Loss)
	case pairs && o.Hierarchy != nil:
		return fault.Argument("hierarchy is given, but method is pair_switching: use annealing or switching")
	case o.Probable() && o.Loss != Maxent:
		return fault.Argument("method is %q: it is for the loss maxent, not for %s", o.Method, o.Loss)
	case o.Probable() && o.Balance != "auto":
		return fault.Argument("balance is %q, but method %s holds the class prior by the mean of probabilities: leave "+
			"balance \"auto\"", o.Balance, o.Method)
	case o.Penalized() && o.Method != Entropy && o.Method != Expectation:
		return fault.Argument("constraint is \"penalty\", but method %s holds the class prior exactly: use entropy or "+
			"expectation", o.Method)
	case o.Balance == "mean" && o.Loss != SquaredHinge && o.Loss != Hinge:
		return fault.Argument("balance is \"mean\", which holds the mean of scores with two sides, but loss is %q: use "+
			"\"share\" or \"labels\"", o.Loss)
	}
	return nil
}

// nearest is the option whose name is fewest edits away.
func nearest[O any](name string, table []option[O]) string {
	best, bestDistance := "", math.MaxInt
	for _, t := range table {
		if d := editDistance(name, t.name); d < bestDistance {
			best, bestDistance = t.name, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
