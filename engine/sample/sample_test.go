package sample

import (
	"testing"

	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Weights of features that do not occur are no part of a model of the packed rows, also where features keep their
// numbers.
func TestWeightsOfAbsentFeaturesAreNoStart(t *testing.T) {
	const features, times = 70_000, 9
	indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
	for range times {
		for j := range int32(features - 2) {
			indices, values = append(indices, j), append(values, 1)
		}
		indptr = append(indptr, int64(len(indices)))
	}
	m, err := rows.New(features, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Rows: m, Labels: []int32{0, 1, -1, -1, -1, -1, -1, -1, -1}}
	s, err := New(p, Options{UnlabeledWeight: 1, ClassPrior: ClassPrior{Rule: "labels"}}, work.NewJob(1, nil))
	if err != nil {
		t.Fatal(err)
	}
	start := &model.Linear{Classes: 2, Features: features, Outputs: 1, Coef: make([]float64, features), Intercept: []float64{0}}
	start.Coef[5], start.Coef[features-1] = 1, 1
	packed := s.Packed(start)
	if packed.Features != features || packed.Coef[5] == 0 || packed.Coef[features-1] != 0 {
		t.Errorf("%d features, weights %v and %v", packed.Features, packed.Coef[5], packed.Coef[features-1])
	}
}
