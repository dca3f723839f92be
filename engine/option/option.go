// Package option reads and describes the options of a kind of problem: a table with a name, a range and a meaning for
// every field of a struct. Every kind of problem has its struct and its table.
package option

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/strictjson"
)

// Option describes one field of O: its name in JSON, Python and C, its range and its meaning.
type Option[O any] struct {
	Name, Kind, Meaning string
	Field               func(o *O) any // pointer to the field
	Choices             []string
	Minimum             float64
	Exclusive           bool    // Minimum itself is not allowed
	Maximum             float64 // 0: Largest
}

// Largest bounds the numbers: larger ones make sums overflow.
const Largest = 1e100

type Table[O any] []Option[O]

// Text describes all options as a JSON array.
func (t Table[O]) Text(defaults O) string {
	list := make([]map[string]any, len(t))
	for k, o := range t {
		entry := map[string]any{"name": o.Name, "type": o.Kind, "meaning": o.Meaning, "default": o.Field(&defaults)}
		switch {
		case o.Choices != nil:
			entry["choices"] = o.Choices
		case o.Kind != "boolean" && o.Kind != "strings":
			entry["minimum"], entry["exclusive_minimum"] = o.Minimum, o.Exclusive
		}
		if o.Kind == "number" || o.Kind == "number or auto" {
			entry["maximum"] = o.largest()
		}
		list[k] = entry
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (t Table[O]) Values(o *O) map[string]any {
	values := map[string]any{}
	for _, option := range t {
		values[option.Name] = option.Field(o)
	}
	return values
}

// Decode reads a JSON object strictly: errors name the option. Options that are missing stay as they are in o.
func (t Table[O]) Decode(text []byte, o O) (O, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return o, nil
	}
	members, err := strictjson.Object(text)
	if err != nil {
		return o, fault.Argument("options must be a JSON object: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err == nil {
			err = t.set(&o, name, members[name])
		}
	}
	return o, err
}

func (t Table[O]) set(o *O, name string, value json.RawMessage) error {
	k := slices.IndexFunc(t, func(t Option[O]) bool { return t.Name == name })
	if k < 0 {
		var names []string
		for _, option := range t {
			names = append(names, option.Name)
		}
		return fault.Argument("unknown option %q; there are %s", name, strings.Join(names, ", "))
	}
	option := t[k]
	if string(value) == "null" && !option.nullable(o) {
		return fault.Argument("%s is null: it must be %s", name, option.kindInWords())
	}
	nullInside := value[0] == '[' && bytes.Contains(value, []byte("null")) // which encoding/json takes for 0
	if err := json.Unmarshal(value, option.Field(o)); err != nil || nullInside {
		return fault.Argument("%s is %s: it must be %s", name, value, option.kindInWords())
	}
	return option.check(o)
}

// nullable reports whether null has a meaning.
func (t Option[O]) nullable(o *O) bool {
	switch t.Field(o).(type) {
	case *[]float64, *[]int, *fault.Names:
		return true
	}
	return false
}

func (t Option[O]) kindInWords() string {
	switch t.Kind {
	case "integer":
		return "an integer"
	case "integers", "numbers", "strings":
		return "an array of " + t.Kind
	case "number or auto":
		return "a number or \"auto\""
	case "string or numbers":
		return "a string or an array of numbers"
	}
	return "a " + t.Kind
}

func (t Option[O]) check(o *O) error {
	switch field := t.Field(o).(type) {
	case *string:
		if !slices.Contains(t.Choices, *field) {
			return fault.Argument("%s is %q: it must be one of %s", t.Name, *field, strings.Join(t.Choices, ", "))
		}
	case *float64:
		return t.inRange(*field)
	case *int:
		return t.inRange(float64(*field))
	case *Weight:
		if float64(*field) != AutoWeight {
			return t.inRange(float64(*field))
		}
	case *[]float64:
		for _, value := range *field {
			if err := t.inRange(value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t Option[O]) inRange(value float64) error {
	if value > t.largest() && !math.IsInf(value, 0) {
		return fault.Argument("%s is %v: it must be at most %v", t.Name, value, t.largest())
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || value < t.Minimum || t.Exclusive && value == t.Minimum {
		relation := "at least"
		if t.Exclusive {
			relation = "above"
		}
		return fault.Argument("%s is %v: it must be %s %v", t.Name, value, relation, t.Minimum)
	}
	return nil
}

func (t Option[O]) largest() float64 {
	if t.Maximum > 0 {
		return t.Maximum
	}
	return Largest
}

// AutoWeight is the weight "auto" in options, of unlabeled rows or of a regularization.
var AutoWeight = math.Inf(-1)

// unlabeledPerLabel: an unlabeled row counts at most a twentieth of a labeled one (docs/notes/alpha.md).
const unlabeledPerLabel = 20

// WeightOf is the weight "auto" with these numbers of unlabeled and labeled rows, or tokens.
func WeightOf(unlabeled, labeled float64) float64 {
	return min(1, unlabeled/(unlabeledPerLabel*labeled))
}

// Weight is a weight in options: a number or "auto".
type Weight float64

func (w *Weight) UnmarshalJSON(text []byte) error {
	if string(text) == `"auto"` {
		*w = Weight(AutoWeight)
		return nil
	}
	return json.Unmarshal(text, (*float64)(w))
}

func (w Weight) MarshalJSON() ([]byte, error) {
	if float64(w) == AutoWeight {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(float64(w))
}
