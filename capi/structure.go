package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/structure"
)

func (c *call) structureFit(a *C.structure_fit_call) error {
	dst, chosen := output(c, "model", a.model), decoded(c, a.options, structure.DecodeOptions)
	chosen.Components = int(a.n_components)
	p := structure.Problem{Rows: c.matrix("rows", a.rows), Labels: c.matrix("labels", a.labels)}
	if a.hidden != nil {
		p.Hidden = c.matrix("hidden", a.hidden)
	}
	p.Hides = optional[int32](c, "hides", unsafe.Pointer(a.hides), int64(p.Labels.Cols()))
	p.Groups = optional[int32](c, "groups", unsafe.Pointer(a.groups), int64(p.Rows.Cols()))
	found, err := structure.Fit(p, chosen, c.progress(a.progress))
	if err == nil {
		*dst = C.int64_t(handles.add(&object{Model: found.Model, extra: []array{
			{"strengths", list[float64](found.Strengths)}, {"history.objective", list[float64](found.Objectives)}}}))
	}
	return err
}
