package method

import "slices"

// Method is how unlabeled rows are learned from.
type Method string

// The methods.
const (
	Auto          Method = "auto" // annealing or switching, whichever ends lower
	Annealing     Method = "annealing"
	Switching     Method = "switching"
	PairSwitching Method = "pair_switching"
	Gradient      Method = "gradient"
	Entropy       Method = "entropy"
	Expectation   Method = "expectation"
	Posterior     Method = "posterior"
)

// Belief is what a method thinks of the unlabeled rows.
type Belief uint8

// The beliefs.
const (
	Soft   Belief = iota // labels at a temperature, which harden
	Hard                 // labels
	Pairs                // labels of two classes, each with a dual variable
	Free                 // no labels: a loss of their scores
	Means                // probabilities, which keep the class prior on average
	Labels               // probabilities near labels that keep the class prior
)

// Traits are what the engine has to know of a method beside its algorithm: one row of the table each.
type Traits struct {
	Method Method
	Belief Belief
	Losses []Loss // that it supports
	// Balance that measured best: "mean" needs the fewest passes, and finds small classes less well.
	Balance     string // "labels": thresholds stay where the labels put them
	KeepsMean   bool   // whether labels that were picked leave the balance as it is
	Level       string // column of the history: what changes from step to step
	Penalty     bool   // whether the class prior may be held at a cost only
	Vectors     int    // of weights that the minimizer keeps besides
	Entropy     bool   // whether probabilities that are not sure cost
	OneMachine  bool   // whether ranks cannot share the rows
	Begins      Method // that runs first, and is compared with
	Rival       Method // at its end; empty: the method itself runs, and nothing is compared
	CoarseStart bool   // whether a fit of many rows of two classes begins with a part of them
}

// Traits of all methods, in the order of the pages.
var methods = []Traits{
	{Method: Auto, Belief: Soft, Losses: []Loss{SquaredHinge, CrammerSinger, Maxent}, Balance: "mean",
		Level: "temperature", Begins: Annealing, Rival: Switching, CoarseStart: true},
	{Method: Annealing, Belief: Soft, Losses: []Loss{SquaredHinge, CrammerSinger, Maxent}, Balance: "mean",
		Level: "temperature", CoarseStart: true},
	{Method: Switching, Belief: Hard, Losses: []Loss{SquaredHinge, CrammerSinger, Maxent}, Balance: "share",
		Level: "unlabeled_weight", CoarseStart: true},
	{Method: PairSwitching, Belief: Pairs, Losses: []Loss{SquaredHinge, Hinge}, Balance: "share",
		Level: "unlabeled_weight", OneMachine: true},
	{Method: Gradient, Belief: Free, Losses: []Loss{SquaredHinge}, Balance: "mean", KeepsMean: true,
		Level: "unlabeled_weight", Vectors: 2 * DescentPairs},
	{Method: Entropy, Belief: Means, Losses: []Loss{Maxent}, Balance: "labels", Level: "unlabeled_weight",
		Penalty: true, Entropy: true},
	{Method: Expectation, Belief: Means, Losses: []Loss{Maxent}, Balance: "labels", Level: "unlabeled_weight",
		Penalty: true},
	{Method: Posterior, Belief: Labels, Losses: []Loss{Maxent}, Balance: "labels", Level: "unlabeled_weight"},
}

// Probable reports whether a method learns from the probabilities of the unlabeled rows instead of labels.
func (t *Traits) Probable() bool { return t.Belief == Means || t.Belief == Labels }

// DescentPairs are the differences of weights and of gradients that method gradient keeps, see minimize.QuasiNewton.
const DescentPairs = 10

// Traits are those of the method of the options.
func (o *Options) Traits() *Traits {
	k := slices.IndexFunc(methods, func(t Traits) bool { return t.Method == o.Method })
	return &methods[k]
}

func methodNames() (names []string) {
	for _, t := range methods {
		names = append(names, string(t.Method))
	}
	return names
}
