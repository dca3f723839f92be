package main

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/warning"
)

func fitted() *object {
	return fromFit(&fit.Result{
		Model: &model.Linear{
			Classes: 2, Features: 3, Outputs: 1, Coef: []float64{1, 2, 3}, Intercept: []float64{4},
			ClassPrior: []float64{.4, .6}, Report: model.Report{Method: "annealing", Iterations: 5, Objective: math.NaN(),
				Metadata: json.RawMessage(`{"a": [1]}`), Warnings: []warning.Warning{warning.NotConverged.Of(math.NaN(), 0.5)}},
		},
		Returned: "switching", Transduction: []int32{1, 0, 1}, Alpha: 0.001, Weight: 0.75, Loss: "hinge", Agreement: 0.5,
		CommitteeWeight: 0.5, Carried: 1,
		Calibration: &fit.Calibration{Temperature: 0.25, Smoothing: math.NaN(), HeldOut: 3},
		History:     []path.Column{{Name: "objective", Values: []float64{9, 8}}},
	})
}

func reportOf(t *testing.T, o *object) (report map[string]any) {
	if err := json.Unmarshal([]byte(o.text()), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

func TestReport(t *testing.T) {
	want := map[string]any{
		"n_classes": 2., "n_features": 3., "n_outputs": 1., "method": "annealing", "n_iter": 5., "objective": nil,
		"alpha": 0.001, "unlabeled_weight": 0.75, "loss": "hinge", "supervised_agreement": 0.5, "returned": "switching",
		"calibration_temperature": 0.25, "calibration_smoothing": nil, "n_held_out": 3., "committee_weight": 0.5, "shares_carried": 1.,
		"trained": nil, "termination_condition": "",
		"metadata": map[string]any{"a": []any{1.}},
		"warnings": []any{map[string]any{"kind": "not_converged", "values": map[string]any{"tol": 0.5},
			"text": warning.NotConverged.Of(math.NaN(), 0.5).Text}},
		"arrays": map[string]any{
			"coef": 3., "intercept": 1., "class_prior": 2., "transduction": 3., "history.objective": 2.,
		},
	}
	if got := reportOf(t, fitted()); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestAMachineWithoutRowsHasATransductionOfNone(t *testing.T) {
	o := fromFit(&fit.Result{Model: &model.Linear{}})
	if source, err := o.arrayNamed("transduction"); err != nil || source.length() != 0 {
		t.Errorf("got %v, %v", source, err)
	}
}

func TestAModelFromAFileReportsNothingOfAFit(t *testing.T) {
	report := reportOf(t, fromModel(fitted().Model))
	for _, name := range []string{
		"alpha", "unlabeled_weight", "loss", "supervised_agreement", "returned", "calibration_temperature", "n_held_out",
		"committee_weight", "shares_carried", "trained",
	} {
		if value, there := report[name]; value != nil || !there {
			t.Errorf("%s: %v, %v", name, value, there)
		}
	}
	if arrays := report["arrays"].(map[string]any); len(arrays) != 3 {
		t.Errorf("arrays: %v", arrays)
	}
}

func TestArraysOfAFit(t *testing.T) {
	for name, want := range map[string][]float64{
		"coef": {1, 2, 3}, "intercept": {4}, "class_prior": {.4, .6}, "transduction": {1, 0, 1}, "history.objective": {9, 8},
	} {
		source, err := fitted().arrayNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, source.length())
		if source.give(&call{}, asFloat64, unsafe.Pointer(&got[0])); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	_, err := fitted().arrayNamed("coeff")
	if statusOf(err) != codeBadArgument || !strings.Contains(err.Error(), `"coeff": a linear classifier has coef, inter`) {
		t.Errorf("got %v", err)
	}
}

// The types of fewlabel.h; tests may not import "C".
const (
	asInt32 = 1 + iota
	asInt64
	asFloat32
	asFloat64
)

func TestAnArrayIsGivenInItsOwnTypeOrAsFloat64(t *testing.T) {
	room, own := make([]int64, 3), []int64{7, 1 << 40, -1}
	values := array{"values", own}
	if values.give(&call{}, asInt64, unsafe.Pointer(&room[0])); !reflect.DeepEqual(room, own) {
		t.Errorf("got %v", room)
	}
	for kind, want := range map[int32]string{
		asInt32: "type is 1: use FEWLABEL_INT64 or FEWLABEL_FLOAT64", asFloat32: "type is 3: use", 0: "type is 0: use",
	} {
		code, message := guarded(100, func(c *call) error {
			values.give(c, kind, unsafe.Pointer(&room[0]))
			return nil
		})
		if code != codeBadArgument || !strings.HasPrefix(message, want) {
			t.Errorf("got %d %q", code, message)
		}
	}
}
