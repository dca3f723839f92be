package main

// #include "capi.h"
import "C"

import "runtime/debug"

// What takes longer than about a millisecond gets a thread of its own (shim.c): multiplications of decisions, and bytes
// that are given back when a handle is freed.
const (
	longDecisions = 1 << 20
	largeObject   = 1 << 24
)

//export go_outputs
func go_outputs(model C.int64_t) C.int64_t {
	m, err := modelAt("model", int64(model))
	if err != nil {
		return 0
	}
	return C.int64_t(m.Outputs)
}

//export go_many_rows
func go_many_rows(outputs C.int64_t, rows *C.const_csr) C.int32_t {
	return truth(many(func() float64 { return float64(outputs) * (float64(rows.n_rows) + float64(rows.n_values)) }))
}

//export go_many_dense_rows
func go_many_dense_rows(outputs C.int64_t, rows *C.const_dense) C.int32_t {
	return truth(many(func() float64 { return float64(outputs) * float64(rows.n_rows) * float64(rows.n_features) }))
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
	var values int
	if m, err := modelAt("model", handle); err == nil {
		for _, a := range m.arrays() {
			values += a.length()
		}
	} else if d, err := dataAt(handle); err == nil {
		values = len(d.Values)
	}
	return 8*values > largeObject
}
