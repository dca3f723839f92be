package main

// #include "capi.h"
import "C"

import (
	"errors"
	"runtime"
	"runtime/debug"
	"unicode/utf8"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// call is one call from C. Its methods view arguments; the first argument that is refused ends the call.
type call struct {
	borrowed []region // of the caller's memory
}

// refusal is the panic that ends a call, caught by run.
type refusal struct{ error }

// check ends the call if there is an error.
func check(err error) {
	if err != nil {
		panic(refusal{err})
	}
}

// guard runs a function. It turns an error, a panic here or in a worker, and a fault in the caller's memory
// into a status code, and writes the message into the caller's buffer. The signature has no C type, so that Go tests,
// which may not import "C", can call it.
func guard(message unsafe.Pointer, size int64, body func(c *call) error) int32 {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	c := &call{}
	err := c.run(body)
	if err != nil {
		writeMessage(message, size, err.Error())
	}
	return statusOf(err)
}

// run calls body and turns a panic into an error: a fault inside a borrowed region into one that names the argument.
func (c *call) run(body func(c *call) error) (err error) {
	defer func() {
		value := recover()
		if refused, ok := value.(refusal); ok {
			err = refused.error
		} else if failure := work.Recovered(value); failure != nil {
			if err = c.explain(failure.Value); err == nil {
				err = failure.Defect()
			}
		}
	}()
	return body(c)
}

var statuses = map[fault.Kind]int32{fault.BadArgument: C.FEWLABEL_BAD_ARGUMENT, fault.BadData: C.FEWLABEL_BAD_DATA,
	fault.Cancelled: C.FEWLABEL_CANCELLED, fault.IO: C.FEWLABEL_IO_ERROR, fault.NoMemory: C.FEWLABEL_NO_MEMORY,
	fault.OtherMachine: C.FEWLABEL_GROUP_FAILED, fault.Internal: C.FEWLABEL_INTERNAL, badHandle: C.FEWLABEL_BAD_HANDLE}

func statusOf(err error) int32 {
	if err == nil {
		return C.FEWLABEL_OK
	}
	if failure, ok := errors.AsType[*fault.Error](err); ok {
		return statuses[failure.Kind]
	}
	return C.FEWLABEL_INTERNAL
}

// writeMessage copies text into a buffer of the caller, cut between two characters where it is too long, and always
// ends it with NUL. A buffer that cannot be written is left alone: the status code still gets through.
func writeMessage(buffer unsafe.Pointer, size int64, text string) {
	if buffer == nil || size <= 0 {
		return
	}
	defer func() { _ = recover() }()
	n := int(min(int64(len(text)), size-1))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	dst := unsafe.Slice((*byte)(buffer), n+1)
	copy(dst, text[:n])
	dst[n] = 0
}

// keepBytes is how much memory the Go heap may keep between calls.
const keepBytes = 16 << 20

// releaseMemory gives the memory of a large computation back to the system: Go would keep it, and a second fit would
// add to it. It is called when the computation's own arrays have become garbage.
func releaseMemory() {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.HeapSys-memory.HeapReleased > keepBytes+uint64(len(ballast)) {
		debug.FreeOSMemory()
	}
}
