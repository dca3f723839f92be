package main

// #include "capi.h"
import "C"

import (
	"runtime/debug"

	"github.com/fewlabel/fewlabel/engine/model"
)

// What takes longer than about a millisecond gets a thread of its own (shim.c): multiplications of decisions, and bytes
// that are given back when a handle is freed.
const (
	longDecisions = 1 << 20
	largeObject   = 1 << 24
)

// go_outputs is what a value of a row is multiplied with.
//
//export go_outputs
func go_outputs(handle C.int64_t) C.int64_t {
	o, err := handles.at("model", int64(handle), linear, components)
	if err != nil {
		return 0
	}
	if m, ok := o.Model.(*model.Structure); ok {
		return C.int64_t(m.Components + m.Outputs)
	}
	return o.sizes().n_outputs
}

//export go_many_rows
func go_many_rows(outputs C.int64_t, rows *C.const_rows) C.int32_t {
	return truth(many(func() float64 {
		if rows.kind == C.FEWLABEL_DENSE {
			return float64(outputs) * float64(rows.n_rows) * float64(rows.n_features)
		}
		return float64(outputs) * (float64(rows.n_rows) + float64(rows.n_values))
	}))
}

//export go_is_large
func go_is_large(handle C.int64_t) C.int32_t { return truth(isLarge(int64(handle))) }

func truth(yes bool) C.int32_t {
	if yes {
		return 1
	}
	return 0
}

// many reports whether decisions take long. A struct that cannot be read is left to the function that was called.
func many(multiplications func() float64) (long bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { _ = recover() }()
	return multiplications() > longDecisions
}

// isLarge reports whether it takes long to give back what a handle stands for.
func isLarge(handle int64) bool {
	o, err := handles.get("handle", handle)
	if err != nil {
		return false
	}
	length := 0
	for _, a := range o.arrays() {
		length += a.length()
	}
	return 8*length > largeObject
}
