package method

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/loss"
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

// LossRow is what the engine has to know of a loss: a Margin, or Classes where it is one of all class scores.
type LossRow struct {
	Name        Loss
	Margin      loss.Margin
	Classes     func(smoothing float64) loss.Classes
	Smoothings  []float64 // ever smaller ones; the first one on the way
	Temperature float64   // that scores have about with many labels, see fit.Calibration
	// Free is that unlabeled rows cost nothing at T = λ', whatever their probabilities: annealing begins there.
	Free bool
}

// The hinge of Crammer & Singer is smoothed: coarsely on the way, and at the end by these values in turn. The
// smoothed hinge is above the hinge by at most smoothing * log K.
var smoothings = []float64{0.1, 0.03, 0.01, 0.003, 0.001}

// usualTemperature is about what many labels give: margins end near 1; scores of loss maxent are logarithms of odds.
const usualTemperature = 0.2

var losses = []LossRow{
	{Name: SquaredHinge, Margin: loss.SquaredHinge{}, Smoothings: []float64{0}, Temperature: usualTemperature},
	{Name: Hinge, Margin: loss.Hinge{}, Smoothings: []float64{0}, Temperature: usualTemperature},
	{Name: CrammerSinger, Smoothings: smoothings, Temperature: usualTemperature,
		Classes: func(smoothing float64) loss.Classes { return loss.Softmax{Smoothing: smoothing, Margin: 1} }},
	{Name: Maxent, Smoothings: []float64{0}, Temperature: 1, Free: true,
		Classes: func(float64) loss.Classes { return loss.Softmax{Smoothing: 1} }},
}

// LossRow is the row of the loss of the options.
func (o *Options) LossRow() *LossRow {
	return &losses[slices.IndexFunc(losses, func(l LossRow) bool { return l.Name == o.Loss })]
}

// Of is the loss of a row's class scores; a pair has the scores of one column.
func (l *LossRow) Of(paired bool) func(smoothing float64) loss.Classes {
	margin := l.Margin
	if margin == nil { // a pair of one class only
		margin = loss.SquaredHinge{}
	}
	switch {
	case paired:
		return func(float64) loss.Classes { return loss.Signed{Margin: margin} }
	case l.Classes != nil:
		return l.Classes
	}
	return func(float64) loss.Classes { return loss.OneAgainstRest{Margin: margin} }
}

func lossNames() (names []string) {
	for _, l := range losses {
		names = append(names, string(l.Name))
	}
	return names
}
