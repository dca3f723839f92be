package main

// #include "capi.h"
import "C"

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// registry holds what handles stand for. A number is never used twice, so a stale handle is always recognized.
type registry struct {
	last    atomic.Int64
	objects sync.Map // by their handles
}

var handles registry

// badHandle is the kind of the errors about handles that are unknown, freed or of another kind.
const badHandle fault.Kind = -1

func handleError(name string, handle int64, found string) error {
	return &fault.Error{Kind: badHandle, Message: fmt.Sprintf("%s is %d, %s", name, handle, found)}
}

func (r *registry) add(item *object) int64 {
	handle := r.last.Add(1)
	r.objects.Store(handle, item)
	return handle
}

// unknown is the error for a handle that stands for nothing; name is the argument it came by.
func (r *registry) unknown(name string, handle int64) error {
	if handle > 0 && handle <= r.last.Load() {
		return handleError(name, handle, "a handle that was freed")
	}
	return handleError(name, handle, "which is no handle")
}

// remove forgets a handle. A call that still works with its object keeps the object alive.
func (r *registry) remove(name string, handle int64) error {
	if _, known := r.objects.LoadAndDelete(handle); !known {
		return r.unknown(name, handle)
	}
	return nil
}

func (r *registry) live() (count int) {
	for range r.objects.Range {
		count++
	}
	return count
}

// at is what a handle stands for, which must be of one of these kinds; none: of any.
func (r *registry) at(name string, handle int64, kinds ...string) (*object, error) {
	item, known := r.objects.Load(handle)
	if !known {
		return nil, r.unknown(name, handle)
	}
	found := item.(*object)
	if kinds != nil && !slices.Contains(kinds, found.kind()) {
		return nil, handleError(name, handle, "the handle of "+inMessages[found.kind()])
	}
	return found, nil
}

func (c *call) object(name string, handle C.int64_t, kinds ...string) *object {
	found, err := handles.at(name, int64(handle), kinds...)
	check(err)
	return found
}

func (c *call) free(a *C.free_call) error { return handles.remove("handle", int64(a.handle)) }
