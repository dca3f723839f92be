package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// array is a named array of an object.
type array struct {
	name string
	values
}

// values can be given to the caller.
type values interface {
	length() int
	give(c *call, kind int32, to unsafe.Pointer) // in their own type, or as float64
}

// list has values of a type.
type list[T int32 | int64 | float64] []T

func (l list[T]) length() int { return len(l) }

// own is the type of fewlabel.h, and its name.
func (l list[T]) own() (int32, string) {
	switch any(l).(type) {
	case list[int32]:
		return C.FEWLABEL_INT32, "FEWLABEL_INT32 or "
	case list[int64]:
		return C.FEWLABEL_INT64, "FEWLABEL_INT64 or "
	}
	return C.FEWLABEL_FLOAT64, ""
}

func (l list[T]) give(c *call, kind int32, to unsafe.Pointer) {
	own, name := l.own()
	switch kind {
	case own:
		copy(slice[T](c, "values", to, int64(len(l))), l)
	case C.FEWLABEL_FLOAT64:
		dst := slice[float64](c, "values", to, int64(len(l)))
		for k := range dst {
			dst[k] = float64(l[k])
		}
	default:
		check(fault.Argument("type is %d: use %sFEWLABEL_FLOAT64", kind, name))
	}
}
