package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
)

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
