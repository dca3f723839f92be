package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	csr "github.com/fewlabel/fewlabel/engine/rows"
)

// dense views the caller's dense rows. csr.NewDense checks the data; here only what must hold for it to look at them.
func (c *call) dense(rows *C.const_dense) (*csr.Matrix, error) {
	if err := c.borrow("rows", unsafe.Pointer(rows), 1, C.sizeof_fewlabel_dense); err != nil {
		return nil, err
	}
	view := *rows
	for _, count := range []struct {
		name  string
		value C.int64_t
	}{{"n_rows", view.n_rows}, {"n_features", view.n_features}, {"row_stride", view.row_stride}} {
		if count.value < 0 || count.value >= addressSpace {
			return nil, fault.Argument("rows.%s is %d", count.name, int64(count.value))
		}
	}
	if view.row_stride < view.n_features {
		return nil, fault.Argument("rows.row_stride is %d: a row has %d values", int64(view.row_stride),
			int64(view.n_features))
	}
	if view.row_stride > 0 && view.n_rows > addressSpace/view.row_stride {
		return nil, fault.Argument("rows.values cannot have %d rows of %d values", int64(view.n_rows),
			int64(view.row_stride))
	}
	switch view.value_type {
	case C.FEWLABEL_FLOAT32:
		return denseOf[float32](c, &view)
	case C.FEWLABEL_FLOAT64:
		return denseOf[float64](c, &view)
	}
	return nil, fault.Argument("rows.value_type is %d: use FEWLABEL_FLOAT32 or FEWLABEL_FLOAT64", int32(view.value_type))
}

// denseOf is dense for a type of value.
func denseOf[V float32 | float64](c *call, view *C.fewlabel_dense) (*csr.Matrix, error) {
	n, d, stride := int64(view.n_rows), int64(view.n_features), int64(view.row_stride)
	values, err := slice[V](c, "rows.values", view.values, max(0, (n-1)*stride+d))
	if err != nil {
		return nil, err
	}
	return csr.NewDense(int(n), int(d), int(stride), values)
}
