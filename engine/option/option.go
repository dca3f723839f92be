// Package option reads and describes the options of a kind of problem: a table with a name, a range and a meaning for
// every field of a struct. Every kind of problem has its struct and its table. Options, and headers, metadata and
// warnings in files, are JSON that is read strictly: start at Table, then Object.
package option

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Option is one option: its name in JSON, Python and C, its range and its meaning.
type Option struct {
	Name             string
	Value            any // pointer to where it goes; the type decides the kind
	Choices          []string
	Minimum, Maximum float64 // Maximum 0: Largest
	Exclusive        bool    // Minimum itself is not allowed, and of 0 nothing below 1 / Largest
	Meaning          string
}

// Largest bounds the numbers: larger ones make sums overflow, and squares of smaller ones than its inverse are zero.
const Largest = 1e100

type Table []Option

// Text describes all options as a JSON array; their values are the defaults.
func (t Table) Text() string {
	list := make([]map[string]any, len(t))
	for k, o := range t {
		kind := kinds[reflect.TypeOf(o.Value)][0]
		entry := map[string]any{"name": o.Name, "type": kind, "meaning": o.Meaning, "default": o.Value}
		switch {
		case o.Choices != nil:
			entry["choices"] = o.Choices
		case kind != "boolean" && kind != "strings":
			entry["minimum"], entry["exclusive_minimum"] = o.Minimum, o.Exclusive
		}
		if kind == "number" || kind == "number or auto" {
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

// Decode reads a JSON object strictly: errors name the option. Options that are missing stay as they are.
func (t Table) Decode(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	members, err := object(text, true) // the options say what is too large
	if err != nil {
		return fault.Argument("options must be a JSON object: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		k := slices.IndexFunc(t, func(o Option) bool { return o.Name == name })
		if k < 0 {
			var names []string
			for _, o := range t {
				names = append(names, o.Name)
			}
			return fault.Argument("unknown option %q; there are %s", name, strings.Join(names, ", "))
		}
		if err := t[k].set(members[name]); err != nil {
			return err
		}
	}
	return nil
}

func (o Option) set(value json.RawMessage) error {
	words := kinds[reflect.TypeOf(o.Value)][1]
	nullable := strings.HasPrefix(words, "an array")
	var entries []*json.RawMessage // nil for null, which encoding/json takes for 0
	nullInside := json.Unmarshal(value, &entries) == nil && slices.Contains(entries, nil)
	if number, _ := json.Number(value).Float64(); math.IsInf(number, 0) ||
		words == "an integer" && math.Abs(number) >= math.MaxInt64 {
		return fault.Argument("%s is %.40s: it is too large", o.Name, value)
	}
	if string(value) == "null" && !nullable || nullInside || json.Unmarshal(value, o.Value) != nil {
		return fault.Argument("%s is %.200s: it must be %s", o.Name, value, words)
	}
	return o.check()
}

// kinds of values: the name of each, and what a message calls it.
var kinds = map[reflect.Type][2]string{
	reflect.TypeFor[*bool]():          {"boolean", "a boolean"},
	reflect.TypeFor[*int]():           {"integer", "an integer"},
	reflect.TypeFor[*float64]():       {"number", "a number"},
	reflect.TypeFor[*Weight]():        {"number or auto", "a number or \"auto\""},
	reflect.TypeFor[*string]():        {"string", "a string"},
	reflect.TypeFor[*[]int]():         {"integers", "an array of integers"},
	reflect.TypeFor[*[]float64]():     {"numbers", "an array of numbers"},
	reflect.TypeFor[*RuleOrNumbers](): {"string or numbers", "a string or an array of numbers"},
	reflect.TypeFor[*fault.Names]():   {"strings", "an array of strings"},
}

func (o Option) check() error {
	switch value := o.Value.(type) {
	case *string:
		if !slices.Contains(o.Choices, *value) {
			return fault.Argument("%s is %q: it must be one of %s", o.Name, *value, strings.Join(o.Choices, ", "))
		}
	case *float64:
		return o.inRange(*value)
	case *int:
		return o.inRange(float64(*value))
	case *Weight:
		if float64(*value) != AutoWeight {
			return o.inRange(float64(*value))
		}
	case *[]float64:
		return o.inRange(*value...)
	case *[]int:
		for k, number := range *value {
			entry := o
			entry.Name = fmt.Sprintf("%s[%d]", o.Name, k)
			if err := entry.inRange(float64(number)); err != nil {
				return err
			}
		}
	case *fault.Names:
		for k, name := range *value {
			if strings.Contains(name, "\x00") {
				return fault.Argument("%s[%d] is %q: a text must not have a NUL character", o.Name, k, name)
			}
		}
	case *RuleOrNumbers:
		if *value.Numbers == nil && !slices.Contains(o.Choices, *value.Rule) {
			return fault.Argument("%s is %q: it must be one of %s, or an array with a number for each class", o.Name,
				*value.Rule, strings.Join(o.Choices, ", "))
		}
	}
	return nil
}

// RuleOrNumbers is where numbers go, of any range, or the rule to find them.
type RuleOrNumbers struct {
	Rule    *string
	Numbers *[]float64
}

func (r *RuleOrNumbers) UnmarshalJSON(text []byte) error {
	*r.Rule, *r.Numbers = "", nil
	if json.Unmarshal(text, r.Rule) == nil {
		return nil
	}
	return json.Unmarshal(text, r.Numbers)
}

func (r *RuleOrNumbers) MarshalJSON() ([]byte, error) {
	if *r.Numbers != nil {
		return json.Marshal(*r.Numbers)
	}
	return json.Marshal(*r.Rule)
}

func (o Option) inRange(values ...float64) error {
	for _, value := range values {
		switch {
		case value > o.largest():
			return fault.Argument("%s is %v: it must be at most %v", o.Name, value, o.largest())
		case value < o.Minimum || o.Exclusive && value == o.Minimum:
			relation := map[bool]string{false: "at least", true: "above"}[o.Exclusive]
			return fault.Argument("%s is %v: it must be %s %v", o.Name, value, relation, o.Minimum)
		case o.Exclusive && value < o.Minimum+1/Largest:
			return fault.Argument("%s is %v: it must be at least %v", o.Name, value, o.Minimum+1/Largest)
		}
	}
	return nil
}

func (o Option) largest() float64 { return cmp.Or(o.Maximum, Largest) }

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
