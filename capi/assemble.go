package main

// #include "capi.h"
import "C"

import (
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/strictjson"
)

//export go_fewlabel_assemble
func go_fewlabel_assemble(
	description *C.const_char, coef, intercept, classPrior *C.const_double, handle *C.int64_t, message *C.char,
	size C.int64_t,
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
		linear, err := described(text)
		if err != nil {
			return err
		}
		err = c.copyParts([]part{
			{"coef", coef, linear.Features * linear.Outputs, &linear.Coef},
			{"intercept", intercept, linear.Outputs, &linear.Intercept},
			{"class_prior", classPrior, linear.Classes, &linear.ClassPrior},
		})
		if err != nil {
			return err
		}
		if err := model.Check(linear); err != nil {
			return err
		}
		*dst = C.int64_t(handles.add(&trained{Linear: linear}))
		return nil
	}))
}

// part is an array of the caller that becomes one of a model.
type part struct {
	name   string
	from   *C.const_double
	length int
	to     *[]float64
}

// copyParts copies the caller's arrays, which the model keeps.
func (c *call) copyParts(parts []part) error {
	for _, p := range parts {
		values, err := slice[float64](c, p.name, unsafe.Pointer(p.from), int64(p.length))
		if err != nil {
			return err
		}
		*p.to = append([]float64(nil), values...)
	}
	return nil
}

// described makes a model without numbers from its JSON description.
func described(text string) (*model.Linear, error) {
	const missing = math.MinInt
	m := &model.Linear{Outputs: missing, Report: model.Report{Objective: math.NaN()}}
	err := describe(text, &m.Report, []strictjson.Field{
		{Name: "n_classes", Value: &m.Classes}, {Name: "n_features", Value: &m.Features},
		{Name: "n_outputs", Value: &m.Outputs, Optional: true},
	})
	if err != nil {
		return nil, err
	}
	if m.Outputs == missing {
		m.Outputs = model.OutputsOf(m.Classes)
	}
	return m, model.CheckShape(m)
}

// describe decodes the description of a model: its sizes, and what may be known of its fit.
func describe(text string, r *model.Report, sizes []strictjson.Field) error {
	err := strictjson.Decode([]byte(text), append(sizes, []strictjson.Field{
		{Name: "method", Value: &r.Method, Optional: true}, {Name: "n_iter", Value: &r.Iterations, Optional: true},
		{Name: "objective", Value: (*model.OrNull)(&r.Objective), Optional: true},
		{Name: "termination_condition", Value: &r.Termination, Optional: true},
	}...))
	if err != nil {
		return fault.Argument("description: %v", err)
	}
	return nil
}
