package main

// #include "capi.h"
import "C"

import (
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/structure"
)

func (c *call) structureFit(a *C.structure_fit_call) error {
	dst, chosen := output(c, "model", a.model), decoded(c, a.options, structure.DecodeOptions)
	if chosen.Components = int(a.n_components); a.n_components < 1 || a.n_components > math.MaxInt32 {
		c.fail(fault.Argument("n_components is %d: use 1 or more", int64(a.n_components)))
	}
	p, shared := c.auxiliary(a), c.progress(a.progress)
	if c.err != nil {
		return c.err
	}
	found, err := structure.Fit(p, chosen, shared)
	if err == nil {
		*dst = C.int64_t(handles.add(&object{Model: found.Model, extra: []array{
			{"strengths", list[float64](found.Strengths)}, {"history.objective", list[float64](found.Objectives)}}}))
	}
	return err
}

// auxiliary views the rows and the auxiliary problems.
func (c *call) auxiliary(a *C.structure_fit_call) structure.Problem {
	p := structure.Problem{Rows: c.matrix("rows", a.rows), Labels: c.matrix("labels", a.labels)}
	if a.hidden != nil {
		p.Hidden = c.matrix("hidden", a.hidden)
	}
	if c.err == nil {
		p.Hides = optional[int32](c, "hides", unsafe.Pointer(a.hides), int64(p.Labels.Cols()))
		p.Groups = optional[int32](c, "groups", unsafe.Pointer(a.groups), int64(p.Rows.Cols()))
	}
	return p
}
