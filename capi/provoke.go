//go:build provoke

package main

// #cgo CFLAGS: -DFEWLABEL_PROVOKE
// #include "capi.h"
import "C"

import "github.com/fewlabel/fewlabel/engine/work"

func init() { functions[C.CALL_provoke] = small((*call).provoke) }

// provoke panics, to test that the process of the caller lives on: where 0 in the call, 1 in a worker, 2 by a nil
// pointer in a worker. It exists only in libraries built with -tags provoke, never in a release.
func (c *call) provoke(a *C.provoke_call) error {
	var nowhere *int
	switch a.where {
	case 0:
		panic("provoked")
	case 1:
		work.NewPool(4).Run(100, func(int) { panic("provoked") })
	case 2:
		work.NewPool(4).Run(100, func(int) { *nowhere = 1 })
	}
	return nil
}
