package main

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
	engine "github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// trained is what a model handle stands for: a linear model and, directly after a fit, what the fit found out.
type trained struct {
	*model.Linear
	extra       []array             // of the fit; a model from a file has none
	agreement   *float64            // of the fit with the supervised start; nil: not known
	returned    *string             // the method that the solution comes from; nil: not known
	calibration *engine.Calibration // nil: not asked for, or not possible
}

// array is a named array of a model, of one of two types.
type array struct {
	name    string
	values  []float64
	classes []int32
}

func (a array) length() int { return len(a.values) + len(a.classes) }

// copyTo fills dst, which has the array's length.
func (a array) copyTo(dst []float64) {
	copy(dst, a.values)
	for i, class := range a.classes {
		dst[i] = float64(class)
	}
}

// fromFit keeps the model and the arrays of a fit.
func fromFit(result *engine.Result) *trained {
	t := &trained{Linear: result.Model, agreement: finite(result.Agreement), returned: &result.Returned,
		calibration: result.Calibration,
		extra:       []array{{name: "transduction", classes: result.Transduction}}}
	if result.Distributions != nil {
		t.extra = append(t.extra, array{name: "label_distributions", values: result.Distributions})
	}
	for _, column := range result.History {
		t.extra = append(t.extra, array{name: "history." + column.Name, values: column.Values})
	}
	return t
}

// saved is what goes into a file; metadata nil: what the model has.
func (t *trained) saved(metadata json.RawMessage) model.Model {
	m := *t.Linear // a copy: other threads may be reading the model
	if metadata != nil {
		m.Metadata = metadata
	}
	return &m
}

// arrays lists what fewlabel_array can give.
func (t *trained) arrays() []array {
	return append([]array{
		{name: "coef", values: t.Coef}, {name: "intercept", values: t.Intercept}, {name: "class_prior", values: t.ClassPrior},
	}, t.extra...)
}

// arrayOf finds an array of a model by its name.
func arrayOf(m reported, name string) (array, error) {
	var names []string
	for _, a := range m.arrays() {
		if a.name == name {
			return a, nil
		}
		names = append(names, a.name)
	}
	return array{}, fault.Argument("name is %q: this model has %s", name, strings.Join(names, ", "))
}

// report is the text of fewlabel_report.
func (t *trained) report() (string, error) {
	var temperature, smoothing *float64
	var heldOut *int
	if c := t.calibration; c != nil {
		temperature, smoothing, heldOut = finite(c.Temperature), finite(c.Smoothing), &c.HeldOut
	}
	text, err := json.Marshal(struct {
		Classes     int               `json:"n_classes"`
		Features    int               `json:"n_features"`
		Outputs     int               `json:"n_outputs"`
		Method      string            `json:"method"`
		Iterations  int               `json:"n_iter"`
		Objective   *float64          `json:"objective"`
		Agreement   *float64          `json:"supervised_agreement"`
		Returned    *string           `json:"returned"`
		Temperature *float64          `json:"calibration_temperature"`
		Smoothing   *float64          `json:"calibration_smoothing"`
		HeldOut     *int              `json:"n_held_out"`
		Termination string            `json:"termination_condition"`
		Warnings    []warning.Warning `json:"warnings"`
		Metadata    json.RawMessage   `json:"metadata"`
		Arrays      map[string]int    `json:"arrays"`
	}{
		t.Classes, t.Features, t.Outputs, t.Method, t.Iterations, finite(t.Objective), t.agreement,
		t.returned, temperature, smoothing, heldOut, t.Termination, append([]warning.Warning{}, t.Warnings...), t.Metadata,
		lengths(t.arrays()),
	})
	if err != nil {
		return "", fault.Defect("the report of a model cannot be written: %v", err)
	}
	return string(text), nil
}

// lengths of arrays by their names.
func lengths(list []array) map[string]int {
	found := map[string]int{}
	for _, a := range list {
		found[a.name] = a.length()
	}
	return found
}

// finite is a number for JSON, which has no NaN or infinity: null.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
