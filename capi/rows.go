package main

// #include "capi.h"
import "C"

import (
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
)

// matrix views the caller's rows and checks them; name is their argument.
func (c *call) matrix(name string, given *C.fewlabel_rows) *rows.Matrix {
	m, err := c.rows(name, given)
	if err == nil {
		m, err = m.Checked()
	}
	if failure, ok := err.(*fault.Error); ok && name != "rows" {
		err = &fault.Error{Kind: failure.Kind, Message: name + ": " + failure.Message}
	}
	check(err)
	return m
}

// rows views the caller's rows, see rows.View. Package rows checks the data; here only what must hold for it to look at
// them.
func (c *call) rows(name string, given *C.fewlabel_rows) (*rows.Matrix, error) {
	single(c, name, given)
	r := *given
	checkRows(name, &r)
	narrow := r.value_type == C.FEWLABEL_FLOAT32
	switch {
	case r.kind == C.FEWLABEL_DENSE && narrow:
		return denseOf[float32](c, name, &r)
	case r.kind == C.FEWLABEL_DENSE:
		return denseOf[float64](c, name, &r)
	case narrow:
		return sparseWith[float32](c, name, &r)
	}
	return sparseWith[float64](c, name, &r)
}

// checkRows refuses other kinds and types, and sizes that no array can have.
func checkRows(name string, r *C.fewlabel_rows) {
	checkSize(name, "n_rows", r.n_rows)
	checkSize(name, "n_features", r.n_features)
	checkOneOf(name, "kind", r.kind, C.FEWLABEL_SPARSE, C.FEWLABEL_DENSE, "FEWLABEL_SPARSE or FEWLABEL_DENSE")
	checkOneOf(name, "value_type", r.value_type, C.FEWLABEL_FLOAT32, C.FEWLABEL_FLOAT64,
		"FEWLABEL_FLOAT32 or FEWLABEL_FLOAT64")
	if r.kind == C.FEWLABEL_DENSE {
		checkSize(name, "row_stride", r.row_stride)
		return
	}
	const integers = "FEWLABEL_INT32 or FEWLABEL_INT64"
	checkSize(name, "n_values", r.n_values)
	checkOneOf(name, "indptr_type", r.indptr_type, C.FEWLABEL_INT32, C.FEWLABEL_INT64, integers)
	checkOneOf(name, "index_type", r.index_type, C.FEWLABEL_INT32, C.FEWLABEL_INT64, integers)
}

func checkSize(name, field string, size C.int64_t) {
	if size < 0 || size >= addressSpace {
		check(fault.Argument("%s.%s is %d", name, field, int64(size)))
	}
}

func checkOneOf(name, field string, value, first, second C.int32_t, right string) {
	if value != first && value != second {
		check(fault.Argument("%s.%s is %d: use %s", name, field, int32(value), right))
	}
}

func denseOf[V float32 | float64](c *call, name string, r *C.fewlabel_rows) (*rows.Matrix, error) {
	n, d, stride := int64(r.n_rows), int64(r.n_features), int64(r.row_stride)
	switch {
	case stride < d:
		check(fault.Argument("%s.row_stride is %d: a row has %d values", name, stride, d))
	case stride > 0 && n > addressSpace/stride:
		check(fault.Argument("%s.values cannot have %d rows of %d values", name, n, stride))
	}
	values := slice[V](c, name+".values", (*V)(r.values), max(0, (n-1)*stride+d))
	return rows.NewDense(int(n), int(d), int(stride), values)
}

func sparseWith[V float32 | float64](c *call, name string, r *C.fewlabel_rows) (*rows.Matrix, error) {
	narrowEnds, narrowIndices := r.indptr_type == C.FEWLABEL_INT32, r.index_type == C.FEWLABEL_INT32
	switch {
	case narrowEnds && narrowIndices:
		return sparse[int32, int32, V](c, name, r)
	case narrowEnds:
		return sparse[int32, int64, V](c, name, r)
	case narrowIndices:
		return sparse[int64, int32, V](c, name, r)
	}
	return sparse[int64, int64, V](c, name, r)
}

func sparse[P, I int32 | int64, V float32 | float64](c *call, name string, r *C.fewlabel_rows) (*rows.Matrix, error) {
	indptr := slice[P](c, name+".indptr", (*P)(r.indptr), int64(r.n_rows)+1)
	// The end of the last row says how far the other arrays are read: look at it before touching them.
	stored := int64(indptr[r.n_rows])
	if stored < 0 || stored > int64(r.n_values) {
		check(fault.Data("%s.indptr[%d] is %d: the rows do not end inside the %d values of %s.n_values",
			name, int64(r.n_rows), stored, int64(r.n_values), name))
	}
	indices := unread[I](c, name+".indices", (*I)(r.indices), stored)
	values := unread[V](c, name+".values", (*V)(r.values), stored)
	return rows.View(int(r.n_features), indptr, indices, values)
}
