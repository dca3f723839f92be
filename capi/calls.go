package main

// #include "capi.h"
import "C"

import "unsafe"

// function is what a function of fewlabel.h does with its arguments.
type function struct {
	run     func(c *call, arguments unsafe.Pointer) error
	garbage bool // so much that memory is given back to the system afterwards
}

// functions are those of functions.h, by number.
var functions = [C.N_CALLS]function{
	C.CALL_options:         small((*call).options),
	C.CALL_fit:             large((*call).fit),
	C.CALL_class_prior:     large((*call).classPrior),
	C.CALL_predict:         small((*call).predict),
	C.CALL_decision_with:   small((*call).decisionWith),
	C.CALL_sequence_fit:    large((*call).sequenceFit),
	C.CALL_sequence_decode: small((*call).sequenceDecode),
	C.CALL_structure_fit:   large((*call).structureFit),
	C.CALL_report:          small((*call).report),
	C.CALL_array:           small((*call).array),
	C.CALL_assemble:        small((*call).assemble),
	C.CALL_save:            small((*call).save),
	C.CALL_load:            small((*call).load),
	C.CALL_free:            large((*call).free),
	C.CALL_svmlight_read:   large((*call).svmlightRead),
	C.CALL_svmlight_write:  small((*call).svmlightWrite),
}

// small makes a function of a method with the arguments A, the struct of capi.h.
func small[A any](run func(*call, *A) error) function {
	return function{run: func(c *call, arguments unsafe.Pointer) error { return run(c, (*A)(arguments)) }}
}

// large is small for a function that leaves much garbage.
func large[A any](run func(*call, *A) error) function {
	f := small(run)
	f.garbage = true
	return f
}

//export go_call
func go_call(number C.int32_t, arguments unsafe.Pointer, message *C.char, size C.int64_t) C.int32_t {
	f := functions[number]
	status := guard(unsafe.Pointer(message), int64(size), func(c *call) error { return f.run(c, arguments) })
	if f.garbage {
		releaseMemory()
	}
	return C.int32_t(status)
}
