package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"sync"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/svmlight"
)

// registry holds what handles stand for. A number is never used twice, so a stale handle is always recognized.
type registry struct {
	mutex sync.RWMutex
	last  int64
	items map[int64]any
}

var handles = registry{items: map[int64]any{}}

// handleError reports a handle that is unknown, freed or of another kind.
type handleError struct{ message string }

func (e *handleError) Error() string { return e.message }

// add gives an object a handle.
func (r *registry) add(item any) int64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.last++
	r.items[r.last] = item
	return r.last
}

// get is the object of a handle; name is the argument it came by.
func (r *registry) get(name string, handle int64) (any, error) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
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
	if _, err := r.get(name, handle); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, ok := r.items[handle]; !ok { // another thread was faster
		return &handleError{fmt.Sprintf("%s is %d, a handle that was freed", name, handle)}
	}
	delete(r.items, handle)
	return nil
}

// live is the number of handles not yet freed.
func (r *registry) live() int {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return len(r.items)
}

// modelAt is the model of a handle; name is the argument it came by.
func modelAt(name string, handle int64) (*trained, error) {
	item, err := handles.get(name, handle)
	if err != nil {
		return nil, err
	}
	if m, ok := item.(*trained); ok {
		return m, nil
	}
	what := "a data set, of a model of sequences or of a structure"
	return nil, &handleError{fmt.Sprintf("%s is %d, the handle of %s", name, handle, what)}
}

// chainAt is the sequence model of a handle; name is the argument it came by.
func chainAt(name string, handle int64) (*chain, error) {
	item, err := handles.get(name, handle)
	if err != nil {
		return nil, err
	}
	if m, ok := item.(*chain); ok {
		return m, nil
	}
	return nil, &handleError{fmt.Sprintf("%s is %d, the handle of another kind of model or of a data set", name, handle)}
}

// reported is a model of any kind, as fewlabel_report, fewlabel_array and fewlabel_save tell of it.
type reported interface {
	report() (string, error)
	arrays() []array
	saved(metadata json.RawMessage) model.Model
}

// reportedAt is the model of a handle, of any kind.
func reportedAt(handle int64) (reported, error) {
	item, err := handles.get("model", handle)
	if err != nil {
		return nil, err
	}
	if m, ok := item.(reported); ok {
		return m, nil
	}
	return nil, &handleError{fmt.Sprintf("model is %d, the handle of a data set", handle)}
}

// dataAt is the data set of a handle.
func dataAt(handle int64) (*svmlight.Data, error) {
	item, err := handles.get("data", handle)
	if err != nil {
		return nil, err
	}
	if d, ok := item.(*svmlight.Data); ok {
		return d, nil
	}
	return nil, &handleError{fmt.Sprintf("data is %d, the handle of a model", handle)}
}

//export go_fewlabel_free
func go_fewlabel_free(handle C.int64_t, message *C.char, size C.int64_t) C.int32_t {
	status := guard(unsafe.Pointer(message), int64(size), func(*call) error {
		return handles.remove("handle", int64(handle))
	})
	releaseMemory()
	return C.int32_t(status)
}

//export go_fewlabel_live_handles
func go_fewlabel_live_handles() C.int64_t { return C.int64_t(handles.live()) }
