// Package main is the C interface of fewlabel, built with -buildmode=c-shared; include/fewlabel.h is its contract.
//
// A call passes three layers, each thin:
//
//	shim.c    the public symbols fewlabel_*, made of the table in functions.h: refuse a forked child, where entering Go
//	          would hang, keep the host's signals away from Go, give a long call a thread of its own, and call
//	go_call   (calls.go) the one way into Go: finds the function in its table, with a guard (guard.go) around it that
//	          turns errors, panics and bad pointers into a status and a message
//	a method  of call for each function: turns pointers into slices (arrays.go, rows.go) and handles into objects
//	          (handles.go, object.go), calls the engine, stores the answer
//
// This is the only folder that imports "C".
package main

// #cgo CFLAGS: -I${SRCDIR}/../include
// #include "capi.h"
import "C"

import (
	"math"
	"runtime/debug"
)

// version is stamped by the build, which also says whether Go's runtime has the edits of python/signal_masks.py.
var version = "0.0.0+unstamped without signal masks"

// garbagePercent lets garbage grow to a tenth of what is in use, not to all of it as Go does by default: the
// engine has few and large arrays without pointers, so that looking for garbage costs next to nothing.
const garbagePercent = 10

// ballast counts as memory in use, so that small fits do not look for garbage after every 400 kB. It is never touched
// and takes address space only. Measured on text1 (1,946 rows), parts of the processor time without: 0.80 of supervised
// fits, 0.70 of switching, 0.75 of annealing.
var ballast = make([]byte, 128<<20)

func init() {
	debug.SetGCPercent(garbagePercent)
	debug.SetMemoryLimit(math.MaxInt64) // GOMEMLIMIT in the environment was meant for another program
	C.shim_keep_version(C.CString(version))
}

//export go_fewlabel_live_handles
func go_fewlabel_live_handles() C.int64_t { return C.int64_t(handles.live()) }

func main() {}
