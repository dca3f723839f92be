package main

// #include "capi.h"
import "C"

import (
	"bytes"
	"encoding/json"
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
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
		for _, part := range []struct {
			name   string
			from   *C.const_double
			length int
			to     *[]float64
		}{
			{"coef", coef, linear.Features * linear.Outputs, &linear.Coef},
			{"intercept", intercept, linear.Outputs, &linear.Intercept},
			{"class_prior", classPrior, linear.Classes, &linear.ClassPrior},
		} {
			values, err := slice[float64](c, part.name, unsafe.Pointer(part.from), int64(part.length))
			if err != nil {
				return err
			}
			*part.to = append([]float64(nil), values...)
		}
		if err := linear.Check(); err != nil {
			return err
		}
		*dst = C.int64_t(handles.add(&trained{Linear: linear}))
		return nil
	}))
}

// described makes a model without numbers from its JSON description.
func described(text string) (*model.Linear, error) {
	var d struct {
		Classes     int      `json:"n_classes"`
		Features    int      `json:"n_features"`
		Outputs     *int     `json:"n_outputs"`
		Method      string   `json:"method"`
		Iterations  int      `json:"n_iter"`
		Objective   *float64 `json:"objective"`
		Termination string   `json:"termination_condition"`
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fault.Argument("description: %v", err)
	}
	outputs := model.OutputsOf(d.Classes)
	if d.Outputs != nil {
		outputs = *d.Outputs
	}
	linear := &model.Linear{
		Classes: d.Classes, Features: d.Features, Outputs: outputs, Method: d.Method, Iterations: d.Iterations,
		Objective: math.NaN(), Termination: d.Termination,
	}
	if d.Objective != nil {
		linear.Objective = *d.Objective
	}
	return linear, linear.CheckShape()
}
