package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
)

// Row is what the engine has to know of a method: one row of the table each.
type Row struct {
	Name   Method
	Fit    func(r *Run) *Solution // nil: Begins does
	Losses []Loss                 // that it supports
	// Balance that measured best: "mean" needs the fewest passes, and finds small classes less well.
	Balance    string                         // "labels": thresholds stay where the labels put them
	KeepsMean  bool                           // whether labels that were picked leave the balance as it is
	Level      string                         // column of the history: what changes from step to step
	Soft       bool                           // whether it has soft labels
	Vectors    int                            // of weights that it keeps
	OwnLoss    func(paired bool) loss.Classes // of all rows, unlabeled ones too; nil: that of the options
	Probable   bool                           // whether it learns from probabilities, not from labels
	OneMachine bool                           // whether ranks cannot share the rows

	Begins      Method // that runs first,
	Compares    Method // and is compared with at its end, as with a second start; empty: the method itself runs alone
	CoarseStart bool   // whether a fit of two classes with many rows begins with a part of them
}

var (
	labelLosses  = []Loss{SquaredHinge, Hinge, CrammerSinger, Maxent}
	maxentLosses = []Loss{Maxent}
)

// Rows of all methods, in the order of the pages.
var table = []Row{
	{Name: auto, Begins: annealing, Compares: switching, Losses: labelLosses, Balance: "mean", Level: "temperature",
		Soft: true, CoarseStart: true},
	{Name: annealing, Fit: anneal, Losses: labelLosses, Balance: "mean", Level: "temperature",
		Soft: true, CoarseStart: true},
	{Name: switching, Fit: switchLabels, Losses: labelLosses, Balance: "share", Level: "unlabeled_weight",
		CoarseStart: true},
	{Name: "pair_switching", Fit: switchPairs, Losses: labelLosses, Balance: "share", Level: "unlabeled_weight",
		OneMachine: true},
	{Name: "gradient", Fit: descend, OwnLoss: gradientLoss, Losses: []Loss{SquaredHinge}, Balance: "mean",
		KeepsMean: true, Level: "unlabeled_weight", Vectors: 2*descentPairs + 7},
	{Name: "entropy", Fit: regularizeEntropy, Losses: maxentLosses, Balance: "labels", Level: "unlabeled_weight",
		Probable: true},
	{Name: "expectation", Fit: regularize, Losses: maxentLosses, Balance: "labels", Level: "unlabeled_weight",
		Probable: true},
	{Name: "posterior", Fit: project, Losses: maxentLosses, Balance: "labels", Level: "unlabeled_weight", Probable: true},
}

// Find is the row of a method.
func Find(name Method) *Row {
	return &table[slices.IndexFunc(table, func(r Row) bool { return r.Name == name })]
}

// First is the row of the method that runs first.
func (r *Row) First() *Row {
	if r.Begins == "" {
		return r
	}
	return Find(r.Begins)
}

// Compared is the row of the method to compare with at the end, or nil.
func (r *Row) Compared() *Row {
	if r.Compares == "" {
		return nil
	}
	return Find(r.Compares)
}

func names() (names []string) {
	for _, r := range table {
		names = append(names, string(r.Name))
	}
	return names
}
