package main

// #include "capi.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/sequence"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/structure"
	"github.com/fewlabel/fewlabel/engine/work"
)

// The compiler holds work.Progress and fewlabel_progress to one layout: arrays of two lengths are of different types.
var (
	_ [unsafe.Sizeof(work.Progress{})]byte             = [C.sizeof_fewlabel_progress]byte{}
	_ [unsafe.Offsetof(work.Progress{}.Cancel)]byte    = [unsafe.Offsetof(C.fewlabel_progress{}.cancel)]byte{}
	_ [unsafe.Offsetof(work.Progress{}.Step)]byte      = [unsafe.Offsetof(C.fewlabel_progress{}.step)]byte{}
	_ [unsafe.Offsetof(work.Progress{}.Objective)]byte = [unsafe.Offsetof(C.fewlabel_progress{}.objective)]byte{}
	_ [unsafe.Offsetof(work.Progress{}.Level)]byte     = [unsafe.Offsetof(C.fewlabel_progress{}.level)]byte{}
	_ [unsafe.Offsetof(work.Progress{}.Switched)]byte  = [unsafe.Offsetof(C.fewlabel_progress{}.n_switched)]byte{}
	_ [unsafe.Offsetof(work.Progress{}.Passes)]byte    = [unsafe.Offsetof(C.fewlabel_progress{}.n_passes)]byte{}
)

func (c *call) options(a *C.options_call) error {
	text, known := map[kind]func() string{linear: method.OptionsText, chain: sequence.OptionsText,
		components: structure.OptionsText}[kind(a.kind)]
	if !known {
		return noKind(a.kind)
	}
	c.giveText(text(), a.text, a.text_size, a.needed)
	return nil
}

func (c *call) fit(a *C.fit_call) error {
	group := c.group(a.group)
	if c.err != nil {
		return c.err
	}
	return group.Run(func() error { return c.fitIn(group, a) })
}

func (c *call) fitIn(group *work.Group, a *C.fit_call) error {
	dst, chosen := output(c, "model", a.model), decoded(c, a.options, method.DecodeOptions)
	p := c.problem(a.rows, a.labels, a.weights, a.group != nil)
	c.priorCosts(&p, a.costs, int64(a.n_classes))
	if a.start != 0 {
		p.Start = c.linear("start", a.start)
	}
	shared := c.progress(a.progress)
	if c.err != nil {
		return c.err
	}
	result, err := fit.FitTogether(p, chosen, shared, group)
	if err == nil {
		*dst = C.int64_t(handles.add(fromFit(result)))
	}
	return err
}

// mostColumns bounds the columns of labels: more than there are models that anyone can use.
const mostColumns = 1 << 24

func (c *call) fitColumns(a *C.fit_columns_call) error {
	k := int64(a.n_columns)
	if k < 1 || k > mostColumns {
		return fault.Argument("n_columns is %d: use 1 to %d", k, int64(mostColumns))
	}
	chosen, x := decoded(c, a.options, method.DecodeOptions), c.matrix("rows", a.rows)
	if c.err != nil {
		return c.err
	}
	p, n := sample.Problem{Rows: x}, int64(x.Rows())
	dst := slice[int64](c, "models", unsafe.Pointer(a.models), k)
	labels := slice[int32](c, "labels", unsafe.Pointer(a.labels), n*k)
	p.Weights = optional[float64](c, "weights", unsafe.Pointer(a.weights), n)
	shares := optional[float64](c, "shares", unsafe.Pointer(a.shares), k)
	shared := c.progress(a.progress)
	if c.err != nil {
		return c.err
	}
	results, err := fit.Columns(p, byColumn(labels, int(k)), shares, chosen, shared)
	for j, result := range results {
		dst[j] = handles.add(fromFit(result))
	}
	return err
}

// byColumn is the columns of a matrix whose rows follow each other.
func byColumn(values []int32, width int) [][]int32 {
	columns := make([][]int32, width)
	for k := range columns {
		for at := k; at < len(values); at += width {
			columns[k] = append(columns[k], values[at])
		}
	}
	return columns
}

// linear is the classifier of a handle.
func (c *call) linear(name string, handle C.int64_t) *model.Linear {
	if o := c.object(name, handle, linear); o != nil {
		return o.Model.(*model.Linear)
	}
	return nil
}

// fromFit keeps the model, and what the fit found out.
func fromFit(result *fit.Result) *object {
	o := fromLinear(result.Model, result)
	o.extra = []array{{"transduction", list[int32](result.Transduction)}}
	if result.Distributions != nil {
		o.extra = append(o.extra, array{"label_distributions", list[float64](result.Distributions)})
	}
	for _, column := range result.History {
		o.extra = append(o.extra, array{"history." + column.Name, list[float64](column.Values)})
	}
	return o
}

// fromLinear keeps a classifier and what is known of its fit; nil is not known.
func fromLinear(m *model.Linear, result *fit.Result) *object {
	var alpha, weight, agreement, temperature, smoothing *float64
	var returned *string
	var heldOut *int
	if result != nil {
		alpha, weight, agreement = &result.Alpha, &result.Weight, finite(result.Agreement)
		returned = &result.Returned
		if found := result.Calibration; found != nil {
			temperature, smoothing, heldOut = finite(found.Temperature), finite(found.Smoothing), &found.HeldOut
		}
	}
	return &object{Model: m, facts: []strictjson.Field{
		{Name: "alpha", Value: alpha}, {Name: "unlabeled_weight", Value: weight},
		{Name: "supervised_agreement", Value: agreement}, {Name: "returned", Value: returned},
		{Name: "calibration_temperature", Value: temperature}, {Name: "calibration_smoothing", Value: smoothing},
		{Name: "n_held_out", Value: heldOut},
	}}
}

// finite is a number for JSON, which has no NaN or infinity: null.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// group views the machines that share the rows; NULL is nobody else.
func (c *call) group(g *C.fewlabel_group) *work.Group {
	if g == nil || !c.borrow("group", unsafe.Pointer(g), 1, C.sizeof_fewlabel_group) {
		return nil
	}
	rank, size := int(g.rank), int(g.size)
	switch {
	case size < 1 || rank < 0 || rank >= size:
		c.fail(fault.Argument("group.rank is %d of size %d: ranks are 0 ... size-1", rank, size))
	case g.allreduce == nil:
		c.fail(fault.Argument("group.allreduce is NULL"))
	}
	return &work.Group{Rank: rank, Size: size, Sum: func(values []float64) error {
		first := (*C.double)(unsafe.Pointer(unsafe.SliceData(values)))
		if status := C.shim_allreduce(g, first, C.int64_t(len(values))); status != 0 {
			return fmt.Errorf("allreduce returned %d", int(status))
		}
		return nil
	}}
}

// problem views the training data; a machine of a group may have no rows.
func (c *call) problem(
	given *C.fewlabel_rows, labels *C.int32_t, weights *C.double, inGroup bool,
) (p sample.Problem) {
	if inGroup && c.borrow("rows", unsafe.Pointer(given), 1, C.sizeof_fewlabel_rows) && given.n_rows == 0 {
		var err error
		p.Rows, err = rows.Empty(int(given.n_features), given.kind == C.FEWLABEL_DENSE)
		c.fail(err)
	} else {
		p.Rows = c.matrix("rows", given)
	}
	if c.err != nil {
		return p
	}
	n := int64(p.Rows.Rows())
	p.Labels = slice[int32](c, "labels", unsafe.Pointer(labels), n)
	p.Weights = optional[float64](c, "weights", unsafe.Pointer(weights), n)
	return p
}

// priorCosts views the prior costs; NULL is none.
func (c *call) priorCosts(p *sample.Problem, costs *C.double, classes int64) {
	switch {
	case c.err != nil:
	case costs == nil && classes != 0:
		c.fail(fault.Argument("n_classes is %d, but costs is NULL: use 0", classes))
	case costs != nil && (classes < 2 || classes > math.MaxInt32):
		c.fail(fault.Argument("n_classes is %d: prior costs are those of 2 to 2^31 - 1 classes", classes))
	case costs != nil:
		p.Classes = int(classes)
		p.Costs = slice[float64](c, "costs", unsafe.Pointer(costs), int64(p.Rows.Rows())*classes)
	}
}

// progress views the struct that the fit shares with its caller; both sides use it with atomic operations, which need
// an aligned address.
func (c *call) progress(p *C.fewlabel_progress) *work.Progress {
	if p == nil {
		return nil
	}
	if uintptr(unsafe.Pointer(p))%unsafe.Alignof(work.Progress{}) != 0 {
		c.fail(fault.Argument("progress is not aligned to %d bytes", unsafe.Alignof(work.Progress{})))
	}
	return output(c, "progress", (*work.Progress)(unsafe.Pointer(p)))
}

func (c *call) classPrior(a *C.class_prior_call) error {
	n := int64(a.n_classes)
	if n < 2 {
		return fault.Argument("n_classes is %d: use 2 or more", n)
	}
	shares := slice[float64](c, "shares", unsafe.Pointer(a.shares), n)
	lower := optional[float64](c, "lower", unsafe.Pointer(a.lower), n)
	upper := optional[float64](c, "upper", unsafe.Pointer(a.upper), n)
	chosen := decoded(c, a.options, sample.DecodeShareOptions)
	p := c.problem(a.rows, a.labels, a.weights, false)
	if c.err != nil {
		return c.err
	}
	found, err := sample.ClassShares(p, chosen, int(n), a.lower != nil || a.upper != nil)
	copy(shares, found.Share)
	copy(lower, found.Lower)
	copy(upper, found.Upper)
	return err
}
