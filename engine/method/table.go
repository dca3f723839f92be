package method

import (
	"cmp"
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
)

type Spec struct {
	Name   Method
	fit    func(d *descent) *Solution // nil: Begins does
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
	Compares    Method // and is compared with at its end, as with a second start; empty: the method itself runs alone
	CoarseStart bool   // whether a fit of two classes with many rows begins with a part of them
}

var (
	labelLosses  = []Loss{SquaredHinge, Hinge, CrammerSinger, Maxent}
	maxentLosses = []Loss{Maxent}
)

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
	{Name: "gradient", fit: descend, OwnLoss: gradientLoss, Losses: []Loss{SquaredHinge}, Balance: "mean",
		KeepsMean: true, Level: "unlabeled_weight", Vectors: 2*descentPairs + 7},
	{Name: "entropy", fit: func(d *descent) *Solution { return regularize(d, d.Objective.Weight) }, Losses: maxentLosses,
		Balance: "labels", Level: "unlabeled_weight", UsesProbabilities: true},
	{Name: "expectation", fit: func(d *descent) *Solution { return regularize(d, 0) }, Losses: maxentLosses,
		Balance: "labels", Level: "unlabeled_weight", UsesProbabilities: true},
	{Name: "posterior", fit: project, Losses: maxentLosses, Balance: "labels", Level: "unlabeled_weight",
		UsesProbabilities: true},
}

func Find(name Method) *Spec {
	return &table[slices.IndexFunc(table, func(s Spec) bool { return s.Name == name })]
}

func (s *Spec) First() *Spec { return Find(cmp.Or(s.Begins, s.Name)) }
