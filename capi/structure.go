package main

// #include "capi.h"
import "C"

import (
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/structure"
)

//export go_fewlabel_structure
func go_fewlabel_structure(
	rows, labels, hidden *C.const_csr, hides, groups *C.const_int32, options *C.const_char,
	progress *C.fewlabel_progress, components, strengths, objective *C.double, count C.int64_t,
	message *C.char, size C.int64_t,
) C.int32_t {
	status := guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		text, err := c.optionalText("options", options)
		if err != nil {
			return err
		}
		chosen, err := structure.DecodeOptions([]byte(text))
		if err != nil {
			return err
		}
		if chosen.Components, err = componentsOf(int64(count)); err != nil {
			return err
		}
		p, err := c.auxiliary(rows, labels, hidden, hides, groups)
		if err != nil {
			return err
		}
		shared, err := c.progress(progress)
		if err != nil {
			return err
		}
		outputs, err := c.structureArrays(p, chosen, components, strengths, objective)
		if err != nil {
			return err
		}
		found, err := structure.Fit(p, chosen, shared)
		if err != nil {
			return err
		}
		copy(outputs[0], found.Components)
		copy(outputs[1], found.Strengths)
		for k := range outputs[2] {
			outputs[2][k] = math.NaN()
		}
		copy(outputs[2], found.Objective)
		return nil
	})
	releaseMemory()
	return C.int32_t(status)
}

// componentsOf checks the number of components, so that lengths can be multiplied by it.
func componentsOf(count int64) (int, error) {
	if count < 1 || count > math.MaxInt32 {
		return 0, fault.Argument("n_components is %d: use 1 or more", count)
	}
	return int(count), nil
}

// auxiliary views the rows and the auxiliary problems.
func (c *call) auxiliary(
	rows, labels, hidden *C.const_csr, hides, groups *C.const_int32,
) (p structure.Problem, err error) {
	if p.Rows, err = c.matrix(rows); err != nil {
		return p, err
	}
	if labels == nil {
		return p, fault.Argument("labels is NULL")
	}
	if p.Labels, err = c.matrix(labels); err != nil {
		return p, named("labels", err)
	}
	if hidden != nil {
		if p.Hidden, err = c.matrix(hidden); err != nil {
			return p, named("hidden", err)
		}
	}
	if hides != nil {
		if p.Hides, err = slice[int32](c, "hides", unsafe.Pointer(hides), int64(p.Labels.Cols())); err != nil {
			return p, err
		}
	}
	if groups != nil {
		p.Groups, err = slice[int32](c, "groups", unsafe.Pointer(groups), int64(p.Rows.Cols()))
	}
	return p, err
}

// named says which of several matrices an error is about.
func named(name string, err error) error {
	if failure, ok := err.(*fault.Error); ok {
		return &fault.Error{Kind: failure.Kind, Message: name + ": " + failure.Message}
	}
	return err
}

// structureArrays views the arrays for the results; the objective may be missing.
func (c *call) structureArrays(
	p structure.Problem, o structure.Options, components, strengths, objective *C.double,
) (out [3][]float64, err error) {
	h, groups := int64(o.Components), int64(1)
	for _, group := range p.Groups {
		groups = max(groups, int64(group)+1)
	}
	for k, array := range []struct {
		name   string
		at     *C.double
		length int64
	}{{"components", components, h * int64(p.Rows.Cols())}, {"strengths", strengths, h * groups},
		{"objective", objective, int64(o.Alternations)}} {
		if array.at == nil && k == 2 {
			continue
		}
		if out[k], err = slice[float64](c, array.name, unsafe.Pointer(array.at), array.length); err != nil {
			return out, err
		}
	}
	return out, nil
}
