package model

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/strictjson"
)

// Named is an array of a model and its name.
type Named struct {
	Name   string
	Values []float64
}

// Arrays are those of a model.
func Arrays(m Model) (list []Named) {
	for _, a := range m.arrays() {
		list = append(list, Named{a.name, *a.values})
	}
	return list
}

// Description is the sizes of a model and what is known of its fit.
func Description(m Model) []strictjson.Field { return append(m.sizes(), m.report().fields()...) }

// Assemble makes a model of a kind from a JSON object with its Description and from arrays, which it keeps.
func Assemble(kind string, description []byte, given map[string][]float64) (Model, error) {
	empty, known := kinds[kind]
	if !known {
		return nil, fault.Argument("a model of the kind %.40q is not known", kind)
	}
	m := empty()
	m.report().Objective = math.NaN()
	if err := strictjson.Decode(description, Description(m)); err != nil {
		return nil, fault.Argument("description: %v", err)
	}
	if l, ok := m.(*Linear); ok && l.Outputs == 0 {
		l.Outputs = OutputsOf(l.Classes)
	}
	if err := CheckShape(m); err != nil {
		return nil, err
	}
	if err := take(m, given); err != nil {
		return nil, err
	}
	return m, m.checkContent()
}

// take makes no array before it has seen that those before it have the right lengths.
func take(m Model, given map[string][]float64) error {
	var names []string
	for _, a := range m.arrays() {
		names = append(names, a.name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return fault.Argument("arrays has %.40q: a model of kind %s has %s", name, m.Kind(), strings.Join(names, ", "))
		}
	}
	for _, a := range m.arrays() {
		values, there := given[a.name]
		if s, ok := m.(*Structure); ok && a.name == "groups" && !there && s.Groups == 1 {
			values, there = make([]float64, s.Features), true
		}
		if !there {
			return fault.Argument("arrays has no %q, which must have %d values", a.name, a.length())
		}
		*a.values = values
		if err := a.check(); err != nil {
			return err
		}
	}
	return nil
}
