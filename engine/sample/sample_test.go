package sample

import (
	"testing"

	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Weights of features that do not occur are no part of a model of the packed rows.
func TestWeightsOfAbsentFeaturesAreNoStart(t *testing.T) {
	const features = 3
	indptr, indices, values := []int64{0, 1, 2, 4, 6}, []int32{0, 2, 0, 2, 0, 2}, []float64{1, 1, 1, 2, 2, 1}
	m, err := rows.New(features, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Rows: m, Labels: []int32{0, 1, -1, -1}}
	s, err := New(p, Options{UnlabeledWeight: 1, ClassPrior: ClassPrior{Rule: "labels"}}, work.NewJob(1, nil))
	if err != nil {
		t.Fatal(err)
	}
	start := &model.Linear{Classes: 2, Features: features, Outputs: 1, Coef: make([]float64, features), Intercept: []float64{0}}
	start.Coef[0], start.Coef[1] = 1, 1
	packed := s.Packed(start)
	if packed.Features != 2 || packed.Coef[0]+packed.Coef[1] != s.Length {
		t.Errorf("%d features, weights %v", packed.Features, packed.Coef)
	}
}
