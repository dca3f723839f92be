package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	csr "github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// structured is what the handle of components, with or without a classifier, stands for.
type structured struct{ *model.Structure }

// structureAt is the structure of a handle.
func structureAt(handle int64) (*structured, error) {
	item, err := handles.get("model", handle)
	if err != nil {
		return nil, err
	}
	if m, ok := item.(*structured); ok {
		return m, nil
	}
	return nil, &handleError{fmt.Sprintf("model is %d, the handle of another kind of model or of a data set", handle)}
}

// saved is what goes into a file; metadata nil: what the model has.
func (s *structured) saved(metadata json.RawMessage) model.Model {
	m := *s.Structure // a copy: other threads may be reading the model
	if metadata != nil {
		m.Metadata = metadata
	}
	return &m
}

// arrays lists what fewlabel_array can give.
func (s *structured) arrays() []array {
	return []array{
		{name: "components", values: s.Theta}, {name: "groups", values: s.GroupOf},
		{name: "structure_weight", values: s.Weight}, {name: "coef", values: s.Coef},
		{name: "structure_coef", values: s.StructureCoef},
		{name: "intercept", values: s.Intercept},
	}
}

// report is the text of fewlabel_report.
func (s *structured) report() (string, error) {
	text, err := json.Marshal(map[string]any{
		"n_features": s.Features, "n_components": s.Components, "n_groups": s.Groups, "n_outputs": s.Outputs,
		"method": s.Method, "n_iter": s.Iterations, "objective": finite(s.Objective),
		"termination_condition": s.Termination, "warnings": append([]warning.Warning{}, s.Warnings...),
		"metadata": s.Metadata, "arrays": lengths(s.arrays()),
	})
	if err != nil {
		return "", fault.Defect("the report of a model cannot be written: %v", err)
	}
	return string(text), nil
}

//export go_fewlabel_structure_assemble
func go_fewlabel_structure_assemble(
	description *C.const_char, components *C.const_double, groups *C.const_int32,
	coef, structureCoef, intercept *C.const_double, handle *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		dst, err := output(c, "model", handle)
		if err != nil {
			return err
		}
		text, err := c.text("description", description)
		if err != nil {
			return err
		}
		m, err := describedStructure(text)
		if err != nil {
			return err
		}
		err = c.copyParts([]part{
			{"components", components, m.Features * m.Components, &m.Theta},
			{"coef", coef, m.Features * m.Outputs, &m.Coef},
			{"structure_coef", structureCoef, m.Added() * m.Outputs, &m.StructureCoef},
			{"intercept", intercept, m.Outputs, &m.Intercept},
		})
		if err != nil {
			return err
		}
		if err := c.groupNumbers(m, groups); err != nil {
			return err
		}
		if err := model.Check(m); err != nil {
			return err
		}
		*dst = C.int64_t(handles.add(&structured{m}))
		return nil
	}))
}

// describedStructure makes a structure without numbers from its JSON description.
func describedStructure(text string) (*model.Structure, error) {
	m := &model.Structure{Groups: 1, Weight: []float64{1}, Report: model.Report{Objective: math.NaN()}}
	err := describe(text, &m.Report, []strictjson.Field{
		{Name: "n_features", Value: &m.Features}, {Name: "n_components", Value: &m.Components},
		{Name: "n_groups", Value: &m.Groups, Optional: true}, {Name: "n_outputs", Value: &m.Outputs, Optional: true},
		{Name: "structure_weight", Value: &m.Weight[0], Optional: true},
	})
	if err != nil {
		return nil, err
	}
	return m, model.CheckShape(m)
}

// groupNumbers copies the group of each feature; NULL: one group.
func (c *call) groupNumbers(m *model.Structure, groups *C.const_int32) error {
	m.GroupOf = make([]float64, m.Features)
	if groups == nil {
		return nil
	}
	numbers, err := slice[int32](c, "groups", unsafe.Pointer(groups), int64(m.Features))
	for j, group := range numbers {
		m.GroupOf[j] = float64(group)
	}
	return err
}

//export go_fewlabel_structure_features
func go_fewlabel_structure_features(
	handle C.int64_t, rows *C.const_csr, threads C.int32_t, features *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		return c.applied(int64(handle), rows, threads, "features", features, (*model.Structure).Added,
			(*model.Structure).StructureFeatures)
	}))
}

//export go_fewlabel_structure_decision
func go_fewlabel_structure_decision(
	handle C.int64_t, rows *C.const_csr, threads C.int32_t, decisions *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		return c.applied(int64(handle), rows, threads, "decisions", decisions,
			func(m *model.Structure) int { return m.Outputs }, (*model.Structure).Decisions)
	}))
}

// applied fills the caller's array, with so many values a row, by a method of the structure.
func (c *call) applied(
	handle int64, rows *C.const_csr, threads C.int32_t, name string, to *C.double, perRow func(*model.Structure) int,
	apply func(*model.Structure, *work.Pool, *csr.Matrix, []float64) error,
) error {
	m, err := structureAt(handle)
	if err != nil {
		return err
	}
	pool, err := poolOf(threads)
	if err != nil {
		return err
	}
	matrix, err := c.matrix(rows)
	if err != nil {
		return err
	}
	dst, err := slice[float64](c, name, unsafe.Pointer(to), int64(matrix.Rows())*int64(perRow(m.Structure)))
	if err != nil {
		return err
	}
	return apply(m.Structure, pool, matrix, dst)
}
