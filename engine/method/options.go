// Package method is the methods: a table that describes them, their losses and options, and a file for the algorithm of
// each. Start at table.
package method

import (
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// Method is how unlabeled rows are learned from.
type Method string

// The methods that the table names.
const (
	auto      Method = "auto" // annealing or switching, whichever ends lower
	annealing Method = "annealing"
	switching Method = "switching"
)

// balances are the ways to hold the class prior; "auto" is the one that measured best for the method.
var balances = []string{"auto", "share", "mean", "labels"}

// Options are the settings of a fit. Defaults and legal ranges are written here and nowhere else.
type Options struct {
	sample.Options
	Method      Method
	Alpha       float64 // option.AutoWeight: what suits the number of rows
	KLWeight    float64
	Balance     string
	Loss        Loss
	Calibrate   bool
	MaxSwitches int // 0: all that help
	MaxIter     int
	Tol         float64
	Threads     int
}

func Defaults() Options {
	return Options{
		Options: sample.Options{ClassPrior: sample.ClassPrior{Rule: "auto"}, UnlabeledWeight: option.AutoWeight,
			FitIntercept: true},
		Method: auto, Alpha: option.AutoWeight, KLWeight: 0.1, Balance: "auto",
		Loss: SquaredHinge, MaxIter: 10000, Tol: 1e-5, Threads: 1,
	}
}
