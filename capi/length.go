package main

// #include "capi.h"
import "C"

import (
	"runtime/debug"

	"github.com/fewlabel/fewlabel/engine/model"
)

// longDecisions are multiplications that take longer than about a millisecond: they get a thread of their own (shim.c).
const longDecisions = 1 << 20

// go_outputs is what a value of a row is multiplied with.
//
//export go_outputs
func go_outputs(handle C.int64_t) C.int64_t {
	o, err := handles.at("model", int64(handle), linear)
	if err != nil {
		return 0
	}
	return C.int64_t(o.Model.(*model.Linear).Outputs)
}

//export go_many_rows
func go_many_rows(outputs C.int64_t, rows *C.const_rows) C.int32_t {
	long := many(func() float64 {
		if rows.kind == C.FEWLABEL_DENSE {
			return float64(outputs) * float64(rows.n_rows) * float64(rows.n_features)
		}
		return float64(outputs) * (float64(rows.n_rows) + float64(rows.n_values))
	})
	if long {
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
