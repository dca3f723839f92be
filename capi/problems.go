package main

// #include "capi.h"
import "C"

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sequence"
	"github.com/fewlabel/fewlabel/engine/structure"
)

func (c *call) sequenceFit(a *C.sequence_fit_call) error {
	dst, chosen := single(c, "model", a.model), decoded(c, a.options, sequence.DecodeOptions)
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
	history := array{"history.objective", list[float64](result.Objectives)}
	*dst = C.int64_t(handles.add(&object{Model: result.Model, extra: []array{history}}))
	return nil
}

// lengths views the numbers of tokens of sequences, of which there are not more than rows.
func (c *call) lengths(lengths *C.int64_t, count C.int64_t, rows int) []int64 {
	if count < 1 || int64(count) > int64(rows) {
		check(fault.Argument("n_sequences is %d: use 1 to the number of rows, %d", int64(count), rows))
	}
	return slice[int64](c, "lengths", lengths, int64(count))
}

func (c *call) sequenceDecode(a *C.sequence_decode_call) error {
	o, matrix, pool := c.object("model", a.model, chain), c.matrix("rows", a.rows), c.pool(a.threads)
	m, n := o.Model.(*model.Chain), int64(matrix.Rows())
	given := c.lengths(a.lengths, a.n_sequences, matrix.Rows())
	return sequence.Decode(pool, m, matrix, given, sequence.Decoded{
		Tags:      optional[int32](c, "tags", a.tags, n),
		Scores:    optional[float64](c, "scores", a.scores, int64(a.n_sequences)),
		Margins:   optional[float64](c, "margins", a.margins, int64(a.n_sequences)),
		Marginals: optional[float64](c, "marginals", a.marginals, n*int64(m.Tags)),
	})
}

func (c *call) structureFit(a *C.structure_fit_call) error {
	dst, chosen := single(c, "model", a.model), decoded(c, a.options, structure.DecodeOptions)
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
		{"strengths", list[float64](found.Strengths)}, {"history.objective", list[float64](found.Objectives)}}}))
	return nil
}
