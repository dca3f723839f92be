package main

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	engine "github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/warning"
)

func fitted() *trained {
	return fromFit(&engine.Result{
		Model: &model.Linear{
			Classes: 2, Features: 3, Outputs: 1, Coef: []float64{1, 2, 3}, Intercept: []float64{4},
			ClassPrior: []float64{.4, .6}, Report: model.Report{Method: "annealing", Iterations: 5, Objective: math.NaN(),
				Metadata: json.RawMessage(`{"a": [1]}`), Warnings: []warning.Warning{warning.NotConverged.Of(math.NaN(), 0.5)}},
		},
		Returned: "switching", Transduction: []int32{1, 0, 1}, Agreement: 0.5,
		Calibration: &engine.Calibration{Temperature: 0.25, Smoothing: math.NaN(), HeldOut: 3},
		History:     []trace.Column{{Name: "objective", Values: []float64{9, 8}}},
	})
}

func TestReport(t *testing.T) {
	text, err := fitted().report()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"n_classes": 2., "n_features": 3., "n_outputs": 1., "method": "annealing", "n_iter": 5., "objective": nil,
		"supervised_agreement": 0.5, "returned": "switching", "calibration_temperature": 0.25, "calibration_smoothing": nil, "n_held_out": 3.,
		"termination_condition": "", "metadata": map[string]any{"a": []any{1.}},
		"warnings": []any{map[string]any{"kind": "not_converged", "values": map[string]any{"tol": 0.5},
			"text": warning.NotConverged.Of(math.NaN(), 0.5).Text}},
		"arrays": map[string]any{
			"coef": 3., "intercept": 1., "class_prior": 2., "transduction": 3., "history.objective": 2.,
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", text)
	}
}

func TestDescribed(t *testing.T) {
	for text, want := range map[string]float64{
		`{"n_classes": 2, "n_features": 3}`:                    math.NaN(),
		`{"n_classes": 2, "n_features": 3, "objective": null}`: math.NaN(),
		`{"n_classes": 2, "n_features": 3, "objective": 0.5}`:  0.5,
	} {
		linear, err := described(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := linear.Objective; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: the objective is %v", text, got)
		}
	}
}

func TestArraysOfAFit(t *testing.T) {
	for name, want := range map[string][]float64{
		"coef": {1, 2, 3}, "intercept": {4}, "class_prior": {.4, .6}, "transduction": {1, 0, 1}, "history.objective": {9, 8},
	} {
		source, err := arrayOf(fitted(), name)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, source.length())
		if source.copyTo(got); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	_, err := arrayOf(fitted(), "coeff")
	if statusOf(err) != codeBadArgument || !strings.Contains(err.Error(), `"coeff": this model has coef, intercept`) {
		t.Errorf("got %v", err)
	}
}
