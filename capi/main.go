// Package main is the C interface of fewlabel, built with -buildmode=c-shared; include/fewlabel.h is its contract.
//
// A call passes three layers, each thin:
//
//	shim.c    the public symbols fewlabel_*: refuse a forked child, where entering Go would hang, keep the host's
//	          signals away from Go, give a long call a thread of its own, and call
//	go_*      one exported Go function each: turns pointers into slices (arrays.go) and handles into objects
//	          (handles.go), calls the engine, stores the answer
//	guard     (guard.go) around each of them: turns errors, panics and bad pointers into a status and a message
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

// version is stamped by the build: -ldflags "-X main.version=0.1.0".
var version = "0.0.0+unstamped"

// signalMasks is "yes" where Go's runtime was built with the edits of python/signal_masks.py: -ldflags "-X
// main.signalMasks=yes".
var signalMasks = "no"

// versionText is version as a C string that lives as long as the process.
var versionText *C.char

// garbagePercent lets garbage grow to a tenth of what is in use, not to all of it as Go does by default: the
// engine has few and large arrays without pointers, so that looking for garbage costs next to nothing.
const garbagePercent = 10

func init() {
	debug.SetGCPercent(garbagePercent)
	debug.SetMemoryLimit(math.MaxInt64) // GOMEMLIMIT in the environment was meant for another program
	versionText = C.CString(version)
	C.shim_keep_version(versionText)
}

//export go_fewlabel_version
func go_fewlabel_version() *C.const_char { return versionText }

//export go_fewlabel_signal_masks
func go_fewlabel_signal_masks() C.int32_t {
	if signalMasks == "yes" {
		return 1
	}
	return 0
}

func main() {}
