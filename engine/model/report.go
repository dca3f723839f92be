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
	Metadata    json.RawMessage   // any JSON that the caller keeps with the model; nil: none
}

// fields of the header; the names are those of fewlabel_report in fewlabel.h.
func (r *Report) fields() []strictjson.Field {
	return []strictjson.Field{
		{Name: "method", Value: &r.Method}, {Name: "n_iter", Value: &r.Iterations},
		{Name: "objective", Value: (*OrNull)(&r.Objective)}, {Name: "termination_condition", Value: &r.Termination},
		{Name: "warnings", Value: (*warning.List)(&r.Warnings)}, {Name: "metadata", Value: (*orNone)(&r.Metadata)},
	}
}

func (r *Report) report() *Report { return r }

// A kind without conditions of its own has these two of its Report.
func (*Report) mistake() string        { return "" }
func (*Report) contentMistake() string { return "" }

// OrNull is a number for JSON, where null stands for one that is not finite.
type OrNull float64

// MarshalJSON writes the number or null.
func (v OrNull) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// UnmarshalJSON reads a number, -0 as 0, or null, which gives NaN.
func (v *OrNull) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*v = OrNull(math.NaN())
		return nil
	}
	err := json.Unmarshal(text, (*float64)(v))
	*v += 0 // of -0 it makes 0
	return err
}

// orNone is a JSON text, nil if there is none.
type orNone json.RawMessage

// MarshalJSON writes the text or null.
func (o orNone) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// UnmarshalJSON keeps a copy of the text.
func (o *orNone) UnmarshalJSON(text []byte) error {
	if *o = nil; string(text) != "null" {
		*o = append(orNone{}, text...)
	}
	return nil
}
