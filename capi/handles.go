package main

// #include "capi.h"
import "C"

import (
	"fmt"
	"slices"
	"sync"
)

// registry holds what handles stand for. A number is never used twice, so a stale handle is always recognized.
type registry struct {
	mutex sync.RWMutex
	last  int64
	items map[int64]*object
}

var handles = registry{items: map[int64]*object{}}

// handleError reports a handle that is unknown, freed or of another kind.
type handleError struct{ message string }

func (e *handleError) Error() string { return e.message }

func (r *registry) add(item *object) int64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.last++
	r.items[r.last] = item
	return r.last
}

// find is the object of a handle, where the lock is held; name is the argument it came by.
func (r *registry) find(name string, handle int64) (*object, error) {
	item, ok := r.items[handle]
	switch {
	case ok:
		return item, nil
	case handle > 0 && handle <= r.last:
		return nil, &handleError{fmt.Sprintf("%s is %d, a handle that was freed", name, handle)}
	}
	return nil, &handleError{fmt.Sprintf("%s is %d, which is no handle", name, handle)}
}

// remove forgets a handle. A call that still works with its object keeps the object alive.
func (r *registry) remove(name string, handle int64) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, err := r.find(name, handle)
	delete(r.items, handle)
	return err
}

// live is the number of handles not yet freed.
func (r *registry) live() int {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return len(r.items)
}

// at is what a handle stands for, which must be of one of these kinds.
func (r *registry) at(name string, handle int64, kinds ...kind) (*object, error) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	found, err := r.find(name, handle)
	if err != nil || slices.Contains(kinds, found.kind()) {
		return found, err
	}
	return nil, &handleError{fmt.Sprintf("%s is %d, the handle of %s", name, handle, found.kind())}
}

func (c *call) object(name string, handle C.int64_t, kinds ...kind) *object {
	found, err := handles.at(name, int64(handle), kinds...)
	check(err)
	return found
}

func (c *call) free(a *C.free_call) error { return handles.remove("handle", int64(a.handle)) }
