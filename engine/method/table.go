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

type Loss string

const (
	SquaredHinge  Loss = "squared_hinge"
	Hinge         Loss = "hinge"
	CrammerSinger Loss = "crammer_singer"
	Maxent        Loss = "maxent"
)

type LossSpec struct {
	Name        Loss
	Margin      func(smoothing float64) loss.Margin  // of a pair; one of all class scores has pairs of one class only
	Classes     func(smoothing float64) loss.Classes // of many classes
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
	{Name: SquaredHinge, Margin: squaredHinge, Classes: oneAgainstRest(squaredHinge), Smoothings: []float64{0},
		Temperature: usualTemperature},
	{Name: Hinge, Margin: hinge, Classes: oneAgainstRest(hinge), Smoothings: bands, Temperature: usualTemperature},
	{Name: CrammerSinger, Margin: squaredHinge, ClassScores: true, Smoothings: smoothings,
		Classes:     func(smoothing float64) loss.Classes { return loss.Softmax{Smoothing: smoothing, Margin: 1} },
		Temperature: usualTemperature},
	{Name: Maxent, Margin: squaredHinge, ClassScores: true, Smoothings: []float64{0}, Temperature: 1, Free: true,
		Classes: func(float64) loss.Classes { return loss.Softmax{Smoothing: 1} }},
}

func squaredHinge(float64) loss.Margin { return loss.SquaredHinge{} }

func hinge(band float64) loss.Margin { return loss.Huber{Band: band} }

func oneAgainstRest(margin func(float64) loss.Margin) func(float64) loss.Classes {
	return func(smoothing float64) loss.Classes { return loss.OneAgainstRest{Margin: margin(smoothing)} }
}

func (l Loss) Spec() *LossSpec {
	return &losses[slices.IndexFunc(losses, func(s LossSpec) bool { return s.Name == l })]
}

// Of is the loss of a row's class scores; a pair has the scores of one column.
func (l *LossSpec) Of(paired bool) func(smoothing float64) loss.Classes {
	if paired {
		return func(smoothing float64) loss.Classes { return loss.Signed{Margin: l.Margin(smoothing)} }
	}
	return l.Classes
}
