//go:build provoke

package main

// #cgo CFLAGS: -DFEWLABEL_PROVOKE
// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/work"
)

// go_fewlabel_provoke panics, to test that the process of the caller lives on: where 0 in the call, 1 in a worker, 2 by
// a nil pointer in a worker. It exists only in libraries built with -tags provoke, never in a release.
//
//export go_fewlabel_provoke
func go_fewlabel_provoke(where C.int32_t, message *C.char, size C.int64_t) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(*call) error {
		var nowhere *int
		switch where {
		case 0:
			panic("provoked")
		case 1:
			work.NewPool(4).Run(100, func(int) { panic("provoked") })
		case 2:
			work.NewPool(4).Run(100, func(int) { *nowhere = 1 })
		}
		return nil
	}))
}
