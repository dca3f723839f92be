package model

import (
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

// Arrays are those of a model, in the order of its file.
func Arrays(m Model) (list []Named) {
	for _, a := range m.arrays() {
		list = append(list, Named{a.name, *a.values})
	}
	return list
}

// Header is what the header of a model's file says besides the kind.
func Header(m Model) []strictjson.Field { return append(m.sizes(), m.report().fields()...) }

// Assemble makes a model of a kind from a JSON object with its sizes and what is known of its fit, and from copies of
// arrays, in any order.
func Assemble(kind string, description []byte, given []Named) (Model, error) {
	m := kinds[kind]()
	m.report().Objective = math.NaN()
	if err := describe(m, description); err != nil {
		return nil, fault.Argument("description: %v", err)
	}
	if err := CheckShape(m); err != nil {
		return nil, err
	}
	if err := known(m, given); err != nil {
		return nil, err
	}
	for _, a := range m.arrays() {
		if err := a.take(m, given); err != nil {
			return nil, err
		}
	}
	return m, Check(m)
}

// describe sets sizes and report; the outputs follow from the classes, and one group of features is the usual number.
func describe(m Model, description []byte) error {
	fields := m.sizes()
	for k, size := range fields {
		fields[k].Optional = size.Name == "n_outputs" || size.Name == "n_groups"
	}
	for _, field := range m.report().fields()[:4] {
		field.Optional = true
		fields = append(fields, field)
	}
	if s, ok := m.(*Structure); ok {
		s.Groups = 1
	}
	err := strictjson.Decode(description, fields)
	if l, ok := m.(*Linear); ok && l.Outputs == 0 {
		l.Outputs = OutputsOf(l.Classes)
	}
	return err
}

// known refuses arrays that the model does not have, or that are there twice.
func known(m Model, given []Named) error {
	var names []string
	for _, a := range m.arrays() {
		names = append(names, a.name)
	}
	for k, array := range given {
		if !slices.Contains(names, array.Name) {
			return fault.Argument("arrays[%d].name is %.40q: a model of kind %s has %s", k, array.Name, m.Kind(),
				strings.Join(names, ", "))
		}
		if at(given[:k], array.Name) >= 0 {
			return fault.Argument("arrays[%d].name is %q, as of an array before", k, array.Name)
		}
	}
	return nil
}

func at(given []Named, name string) int {
	return slices.IndexFunc(given, func(array Named) bool { return array.Name == name })
}

// take copies the array, or makes one that need not be given.
func (a array) take(m Model, given []Named) error {
	if k := at(given, a.name); k >= 0 {
		if length := len(given[k].Values); length != a.length() {
			return fault.Argument("%s has %d values and should have %d", a.name, length, a.length())
		}
		*a.values = slices.Clone(given[k].Values)
		return nil
	}
	if s, ok := m.(*Structure); ok && a.name == "groups" && s.Groups == 1 {
		s.GroupOf = make([]float64, s.Features)
		return nil
	}
	return fault.Argument("arrays has no %q, which must have %d values", a.name, a.length())
}
