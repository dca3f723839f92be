package model

import (
	"encoding/json"
	"math"

	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// Report is what a fit reports, and what the caller keeps with the model.
type Report struct {
	Method      string
	Iterations  int
	Objective   float64           // NaN where the method has none
	Termination string            // why the fit stopped
	Warnings    []warning.Warning // of the fit, for the user
	Metadata    json.RawMessage   // any JSON that the caller keeps with the model; nil or null: none
}

// fields of a description; the names are those of fewlabel_report in fewlabel.h.
func (r *Report) fields() []strictjson.Field {
	fields := []strictjson.Field{
		{Name: "method", Value: &r.Method}, {Name: "n_iter", Value: &r.Iterations},
		{Name: "objective", Value: (*OrNull)(&r.Objective)}, {Name: "termination_condition", Value: &r.Termination},
		{Name: "warnings", Value: (*warning.List)(&r.Warnings)}, {Name: "metadata", Value: &r.Metadata},
	}
	for k := range fields {
		fields[k].Optional = true
	}
	return fields
}

func (r *Report) report() *Report { return r }

// A kind without conditions of its own has these two of its Report.
func (*Report) checkSizes() error   { return nil }
func (*Report) checkContent() error { return nil }

// OrNull is a number for JSON, where null stands for one that is not finite.
type OrNull float64

// MarshalJSON writes the number or null.
func (v OrNull) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// UnmarshalJSON reads a number, or null, which gives NaN.
func (v *OrNull) UnmarshalJSON(text []byte) error {
	*v = OrNull(math.NaN())
	return json.Unmarshal(text, (*float64)(v))
}
