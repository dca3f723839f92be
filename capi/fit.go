package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"slices"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/sequence"
	"github.com/fewlabel/fewlabel/engine/shares"
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
	l, s, t := method.Defaults(), sequence.Defaults(), structure.Defaults()
	table, known := map[string]option.Table{linear: l.Table(), chain: s.Table(), components: t.Table()}[modelKinds[a.kind]]
	if !known {
		return noKind(a.kind)
	}
	c.giveText(table.Text(), a.text, a.text_size, a.needed)
	return nil
}

func (c *call) fit(a *C.fit_call) error {
	group := c.group(a.group)
	return group.Run(func() error { return c.fitIn(group, a) })
}

func (c *call) fitIn(group *work.Group, a *C.fit_call) error {
	chosen := method.Defaults()
	c.decode(a.options, chosen.Table())
	p, l := c.problem(a.rows, a.labels, a.weights, a.group != nil)
	dst := slice[int64](c, "models", a.models, int64(l.columns))
	if a.start != 0 {
		p.Start = c.object("start", a.start, linear).Model.(*model.Linear)
	}
	shared := c.progress(a.progress)
	switch {
	case l.columns == 1:
		result, err := fit.Fit(p, chosen, shared, group)
		if err == nil {
			dst[0] = handles.add(fromFit(result))
		}
		return err
	case p.Start != nil:
		return fault.Argument("start is a model, but labels.n_columns is %d: use 0", l.columns)
	case a.group != nil:
		return fault.Argument("group is given, but labels.n_columns is %d: use NULL", l.columns)
	}
	results, err := fit.Columns(p, l.byColumn(), chosen, shared)
	for j, result := range results {
		dst[j] = handles.add(fromFit(result))
	}
	return err
}

func fromFit(result *fit.Result) *object {
	o := fromLinear(result.Model, result)
	o.extra = []array{{"transduction", result.Transduction}}
	if result.Distributions != nil {
		o.extra = append(o.extra, array{"label_distributions", result.Distributions})
	}
	for _, column := range result.History {
		o.extra = append(o.extra, array{"history." + column.Name, column.Values})
	}
	return o
}

// fromLinear keeps a classifier and what is known of its fit, if there was one; the rest is null.
func fromLinear(m *model.Linear, result *fit.Result) *object {
	known := map[string]any{}
	if result != nil {
		known = map[string]any{"alpha": result.Alpha, "unlabeled_weight": result.Weight, "loss": result.Loss,
			"returned": result.Returned, "supervised_agreement": model.OrNull(result.Agreement), "trained": result.Trained,
			"committee_weight": result.CommitteeWeight, "shares_carried": result.Carried}
		if found := result.Calibration; found != nil {
			known["calibration_temperature"] = model.OrNull(found.Temperature)
			known["calibration_smoothing"], known["n_held_out"] = model.OrNull(found.Smoothing), found.HeldOut
		}
	}
	o := &object{Model: m}
	for _, name := range []string{"alpha", "unlabeled_weight", "loss", "supervised_agreement", "returned",
		"calibration_temperature", "calibration_smoothing", "n_held_out", "committee_weight", "shares_carried",
		"trained"} {
		o.facts = append(o.facts, option.Field{Name: name, Value: known[name]})
	}
	return o
}

// group views the machines that share the rows; NULL is nobody else.
func (c *call) group(g *C.fewlabel_group) *work.Group {
	if g == nil {
		return nil
	}
	single(c, "group", g)
	rank, size := int(g.rank), int(g.size)
	switch {
	case size < 1 || rank < 0 || rank >= size:
		check(fault.Argument("group.rank is %d of size %d: ranks are 0 ... size-1", rank, size))
	case g.allreduce == nil:
		check(fault.Argument("group.allreduce is NULL"))
	}
	return &work.Group{Rank: rank, Size: size, Sum: func(values []float64) error {
		first := (*C.double)(unsafe.Pointer(unsafe.SliceData(values)))
		if status := C.shim_allreduce(g, first, C.int64_t(len(values))); status != 0 {
			return fmt.Errorf("allreduce returned %d", int(status))
		}
		return nil
	}}
}

// problem views the training data, with one column of labels; a machine of a group may have no rows.
func (c *call) problem(
	given *C.fewlabel_rows, known *C.fewlabel_labels, weights *C.double, inGroup bool,
) (p sample.Problem, l labels) {
	single(c, "rows", given)
	if inGroup && given.n_rows == 0 {
		var err error
		p.Rows, err = rows.Empty(int(given.n_features), given.kind == C.FEWLABEL_DENSE)
		check(err)
	} else {
		p.Rows = c.matrix("rows", given)
	}
	n := int64(p.Rows.Rows())
	l = c.labels(known, n, inGroup)
	p.Weights = optional[float64](c, "weights", weights, n)
	if l.columns == 1 {
		p.Labels, p.Classes, p.Weak = l.codes, l.classes, l.weak
	}
	return p, l
}

// progress views the struct that the fit shares with its caller; both sides use it with atomic operations, which need
// an aligned address.
func (c *call) progress(p *C.fewlabel_progress) *work.Progress {
	if p == nil {
		return nil
	}
	if uintptr(unsafe.Pointer(p))%unsafe.Alignof(work.Progress{}) != 0 {
		check(fault.Argument("progress is not aligned to %d bytes", unsafe.Alignof(work.Progress{})))
	}
	return single(c, "progress", (*work.Progress)(unsafe.Pointer(p)))
}

func (c *call) classPrior(a *C.class_prior_call) error {
	chosen := shares.Defaults()
	c.decode(a.options, chosen.Table())
	p, l := c.problem(a.rows, a.labels, a.weights, false)
	switch {
	case l.columns > 1:
		return fault.Argument("labels.n_columns is %d: use 1", l.columns)
	case l.weak != nil:
		return fault.Argument("labels.indptr is given: use NULL, shares are found from rows with a label and rows without")
	case l.classes < 2:
		return fault.Argument("labels.n_classes is %d: use 2 or more", l.classes)
	}
	n := int64(l.classes)
	share := slice[float64](c, "shares", a.shares, n)
	lower := optional[float64](c, "lower", a.lower, n)
	upper := optional[float64](c, "upper", a.upper, n)
	room := optional[byte](c, "warnings", a.warnings, int64(a.warnings_size))
	found, err := fit.EstimateShares(p, chosen, a.lower != nil || a.upper != nil)
	check(err)
	text, err := json.Marshal(found.Warnings)
	if room != nil && len(room) <= len(text) {
		return fault.Argument("warnings_size is %d: the text takes %d bytes", len(room), len(text)+1)
	}
	copy(room, append(text, 0))
	copy(share, found.Share)
	copy(lower, found.Lower)
	copy(upper, found.Upper)
	return err
}

func (c *call) sequenceFit(a *C.sequence_fit_call) error {
	dst, chosen := single(c, "model", a.model), sequence.Defaults()
	c.decode(a.options, chosen.Table())
	p := sequence.Problem{Rows: c.matrix("rows", a.rows)}
	p.Lengths = c.lengths(a.lengths, a.n_sequences, p.Rows.Rows())
	p.Labels = slice[int32](c, "labels", a.labels, int64(p.Rows.Rows()))
	if a.allowed != nil && len(p.Labels) > 0 {
		tags := 1 + int64(slices.Max(p.Labels))
		p.Allowed = slice[uint8](c, "allowed", a.allowed, int64(p.Rows.Rows())*tags)
	}
	if a.start != 0 {
		p.Start = c.object("start", a.start, chain).Model.(*model.Chain)
	}
	result, err := sequence.Fit(p, chosen, c.progress(a.progress))
	check(err)
	*dst = C.int64_t(handles.add(&object{Model: result.Model, extra: []array{{"history.objective", result.Objectives}}}))
	return nil
}

func (c *call) structureFit(a *C.structure_fit_call) error {
	dst, chosen := single(c, "model", a.model), structure.Defaults()
	c.decode(a.options, chosen.Table())
	chosen.Components = int(a.n_components)
	p := structure.Problem{Rows: c.matrix("rows", a.rows), Labels: c.matrix("labels", a.labels)}
	if a.hidden != nil {
		p.Hidden = c.matrix("hidden", a.hidden)
	}
	p.Hides = optional[int32](c, "hides", a.hides, int64(p.Labels.Cols()))
	p.Groups = optional[int32](c, "groups", a.groups, int64(p.Rows.Cols()))
	found, err := structure.Fit(p, chosen, c.progress(a.progress))
	check(err)
	*dst = C.int64_t(handles.add(&object{Model: found.Model, extra: []array{
		{"strengths", found.Strengths}, {"history.objective", found.Objectives}}}))
	return nil
}
