// Package model has linear classifiers (linear.go), chains and components (kind.go), files (file.go). Start at Linear.
package model

import (
	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Linear is a classifier whose decision values are linear in the features: f = x Coef + Intercept. Two classes have one
// decision value, and class 1 is where it is above 0. More classes have one each, and the largest decides.
type Linear struct {
	Classes  int // K
	Features int // d
	Outputs  int // decision values of a row: 1 for two classes, otherwise K

	Coef       []float64 // [Features*Outputs] the outputs of a feature side by side
	Intercept  []float64 // [Outputs]
	ClassPrior []float64 // [Classes] the share of each class that the fit held to

	Report
}

// OutputsOf is the number of decisions a row gets: one for two classes, otherwise one a class.
func OutputsOf(classes int) int {
	if classes > 2 {
		return classes
	}
	return 1
}

// OfScores is the classifier by class scores x coef + intercept, coef [features*classes]; it overwrites these.
func OfScores(classes int, coef, intercept []float64) *Linear {
	m := &Linear{Classes: classes, Features: len(coef) / classes, Outputs: OutputsOf(classes)}
	outputs := func(scores []float64) []float64 {
		for first := 0; first < len(scores); first += classes {
			row := scores[first : first+classes]
			floats.AddConst(-vector.Sum(row)/float64(classes), row)
			if m.Outputs == 1 {
				scores[first/classes] = row[1] - row[0]
			}
		}
		return scores[:len(scores)/classes*m.Outputs]
	}
	m.Coef, m.Intercept = outputs(coef), outputs(intercept)
	return m
}

func (*Linear) Kind() string { return "linear" }

func (m *Linear) sizes() []strictjson.Field {
	return []strictjson.Field{
		{Name: "n_classes", Value: &m.Classes}, {Name: "n_features", Value: &m.Features},
		{Name: "n_outputs", Value: &m.Outputs, Optional: true},
	}
}

func (m *Linear) checkSizes() error {
	if outputs := OutputsOf(m.Classes); m.Outputs != outputs {
		return fault.Argument("n_outputs is %d: for %d classes it must be %d", m.Outputs, m.Classes, outputs)
	}
	return nil
}

func (m *Linear) Arrays() []Array {
	return []Array{
		{"coef", []int{m.Features, m.Outputs}, &m.Coef, false}, {"intercept", []int{m.Outputs}, &m.Intercept, false},
		{"class_prior", []int{m.Classes}, &m.ClassPrior, false},
	}
}

// Decisions sets dst [rows*Outputs]; a row has the same bits alone and in a batch, on any number of threads.
func (m *Linear) Decisions(pool *work.Pool, rows *rows.Matrix, dst []float64) error {
	err := CheckFeatures(rows, m.Features)
	if err == nil {
		rows.Decisions(pool, m.weights(), dst)
	}
	return err
}

func (m *Linear) weights() rows.Weights {
	return rows.Weights{Coef: m.Coef, Intercept: m.Intercept, ByFeature: true}
}

// Predict sets dst [rows] to class numbers.
func (m *Linear) Predict(pool *work.Pool, rows *rows.Matrix, dst []int32) error {
	if err := CheckFeatures(rows, m.Features); err != nil {
		return err
	}
	rows.EachDecisions(pool, m.weights(), func(first int, decisions []float64) {
		for i := range len(decisions) / m.Outputs {
			dst[first+i] = m.class(decisions[i*m.Outputs : (i+1)*m.Outputs])
		}
	})
	return nil
}

func (m *Linear) class(decisions []float64) int32 {
	switch {
	case m.Outputs > 1:
		return int32(vector.Largest(decisions))
	case m.Classes == 2 && decisions[0] > 0:
		return 1
	}
	return 0
}

func CheckFeatures(rows *rows.Matrix, features int) error {
	if rows.Cols() != features {
		return fault.Argument("rows have %d features, the model has %d", rows.Cols(), features)
	}
	return nil
}
