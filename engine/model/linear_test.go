package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/faulttest"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

var wantFault = faulttest.Want

func randomModel(classes, features int) *Linear {
	random := rand.New(rand.NewPCG(uint64(classes), uint64(features)))
	m := &Linear{
		Classes: classes, Features: features, Outputs: OutputsOf(classes), Report: Report{
			Method: "annealing", Iterations: 12, Objective: random.Float64(), Termination: "entropy",
			Warnings: []warning.Warning{{Kind: "small_share", Values: map[string]float64{"class": 1, "prior": 0.25}, Text: "class 1 is small"}},
			Metadata: []byte(`{"classes":["a<b","é"],"number":12345678901234567890}`),
		},
	}
	fillArrays(m, random)
	return m
}

func fillArrays(m Model, random *rand.Rand) {
	for _, array := range m.Layout().Arrays {
		*array.Values = []float64{}
		for range array.length() {
			*array.Values = append(*array.Values, random.NormFloat64())
		}
	}
}

func randomChain(tags, features int) *Chain {
	m := &Chain{Tags: tags, Features: features, Report: Report{Method: "crf", Warnings: []warning.Warning{}, Metadata: []byte("null")}}
	fillArrays(m, rand.New(rand.NewPCG(uint64(tags), uint64(features))))
	m.Transitions[0], m.Start[0], m.End[0] = math.Inf(-1), math.Inf(-1), math.Inf(-1)
	return m
}

// randomRows has the same rows as a matrix and as dense rows; a feature may stand twice in a row.
func randomRows(t testing.TB, n, features int) (*rows.Matrix, [][]float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), uint64(features)))
	indptr, indices, values := []int64{0}, []int64{}, []float64{}
	dense := make([][]float64, n)
	for i := range n {
		dense[i] = make([]float64, features)
		for range random.IntN(2 * features) {
			column, value := random.IntN(features), random.NormFloat64()
			indices, values = append(indices, int64(column)), append(values, value)
			dense[i][column] += value
		}
		indptr = append(indptr, int64(len(values)))
	}
	m, err := rows.New(features, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	return m, dense
}

func TestDecisionsAndPredictAgainstDenseSums(t *testing.T) {
	for _, classes := range []int{1, 2, 3, 7} {
		m := randomModel(classes, 9)
		rows, dense := randomRows(t, 1500, 9)
		decisions, predicted := make([]float64, 1500*m.Outputs), make([]int32, 1500)
		if err := errors.Join(m.Decisions(work.NewPool(2), rows, decisions),
			m.Predict(work.NewPool(2), rows, predicted)); err != nil {
			t.Fatal(err)
		}
		for i, row := range dense {
			for k := range m.Outputs {
				want := m.Intercept[k]
				for col, value := range row {
					want += value * m.Coef[col*m.Outputs+k]
				}
				if got := decisions[i*m.Outputs+k]; math.Abs(got-want) > 1e-12 {
					t.Fatalf("%d classes: decision %d of row %d is %v, want %v", classes, k, i, got, want)
				}
			}
			if want := classOf(m, decisions[i*m.Outputs:(i+1)*m.Outputs]); predicted[i] != want {
				t.Fatalf("%d classes: row %d is predicted %d, want %d", classes, i, predicted[i], want)
			}
		}
	}
}

// classOf is the rule of the documentation, written down once more.
func classOf(m *Linear, decisions []float64) (class int32) {
	if m.Outputs == 1 {
		if m.Classes == 2 && decisions[0] > 0 {
			return 1
		}
		return 0
	}
	for k := range decisions {
		if decisions[k] > decisions[class] {
			class = int32(k)
		}
	}
	return class
}

func TestTies(t *testing.T) {
	rows, err := rows.New(1, []int32{0, 1, 2}, []int32{0, 0}, []float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	two := func(coef, intercept float64) Linear {
		return Linear{Classes: 2, Features: 1, Outputs: 1, Coef: []float64{coef}, Intercept: []float64{intercept}}
	}
	three := func(coef, intercept []float64) Linear {
		return Linear{Classes: 3, Features: 1, Outputs: 3, Coef: coef, Intercept: intercept}
	}
	one := two(1, 5)
	one.Classes = 1
	for _, c := range []struct {
		name string
		m    Linear
		want []int32
	}{
		{"a decision of 0 is class 0", two(1, 0), []int32{0, 1}},
		{"so is -0", two(0, math.Copysign(0, -1)), []int32{0, 0}},
		{"the first of equals wins", three([]float64{0, 1, 1}, []float64{2, 2, 2}), []int32{0, 1}},
		{"all below 0", three([]float64{0, 0, -1}, []float64{-3, -2, -1.5}), []int32{2, 1}},
		{"one class only", one, []int32{0, 0}},
	} {
		got := make([]int32, 2)
		if err := c.m.Predict(work.NewPool(1), rows, got); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v (%v), want %v", c.name, got, err, c.want)
		}
	}
}

func TestShapesThatDoNotFit(t *testing.T) {
	pool := work.NewPool(1)
	rows, _ := randomRows(t, 4, 5)
	seven := randomModel(3, 7)
	wantFault(t, seven.Decisions(pool, rows, make([]float64, 12)), fault.BadArgument,
		"rows have 5 features, the model has 7")
	wantFault(t, seven.Predict(pool, rows, make([]int32, 4)), fault.BadArgument, "rows have 5 features, the model has 7")
}
