package main

// #include "capi.h"
import "C"

import (
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
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
		*dst = C.int64_t(handles.add(fromStructure(p, chosen, found)))
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

// fromStructure keeps the components that a fit found.
func fromStructure(p structure.Problem, o structure.Options, found *structure.Result) *object {
	h, d := o.Components, p.Rows.Cols()
	m := &model.Structure{Features: d, Components: h, Groups: len(found.Strengths) / h, Theta: make([]float64, h*d),
		GroupOf: make([]float64, d), Weight: []float64{1}, Report: model.Report{Method: o.Solver, Iterations: 1,
			Objective: math.NaN()}}
	for k, value := range found.Components {
		m.Theta[k%d*h+k/d] = value
	}
	for j, group := range p.Groups {
		m.GroupOf[j] = float64(group)
	}
	if rounds := len(found.Objective); rounds > 0 {
		m.Iterations, m.Objective = rounds, found.Objective[rounds-1]
	}
	return &object{Model: m, extra: []array{{"strengths", list[float64](found.Strengths)},
		{"history.objective", list[float64](found.Objective)}}}
}
