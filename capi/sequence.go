package main

// #include "capi.h"
import "C"

import (
	"math"
	"slices"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sequence"
	"github.com/fewlabel/fewlabel/engine/strictjson"
)

func (c *call) sequenceFit(a *C.sequence_fit_call) error {
	dst, chosen := output(c, "model", a.model), decoded(c, a.options, sequence.DecodeOptions)
	p := sequence.Problem{Rows: c.matrix("rows", a.rows)}
	if c.err != nil {
		return c.err
	}
	p.Lengths = c.lengths(a.lengths, a.n_sequences, p.Rows.Rows())
	p.Labels = slice[int32](c, "labels", unsafe.Pointer(a.labels), int64(p.Rows.Rows()))
	if a.allowed != nil && c.err == nil && len(p.Labels) > 0 {
		tags := int64(1 + slices.Max(p.Labels))
		p.Allowed = slice[uint8](c, "allowed", unsafe.Pointer(a.allowed), int64(p.Rows.Rows())*tags)
	}
	if a.start != 0 {
		if from := c.object("start", a.start, chain); from != nil {
			p.Start = from.Model.(*model.Chain)
		}
	}
	shared := c.progress(a.progress)
	if c.err != nil {
		return c.err
	}
	result, err := sequence.Fit(p, chosen, shared)
	if err == nil {
		*dst = C.int64_t(handles.add(&object{Model: result.Model, facts: gap(result.Gap),
			extra: []array{{"history.objective", list[float64](result.Objectives)}}}))
	}
	return err
}

// lengths views the numbers of tokens of sequences, of which there are not more than rows.
func (c *call) lengths(lengths *C.int64_t, count C.int64_t, rows int) []int64 {
	if count < 1 || int64(count) > int64(rows) {
		c.fail(fault.Argument("n_sequences is %d: use 1 to the number of rows, %d", int64(count), rows))
	}
	return slice[int64](c, "lengths", unsafe.Pointer(lengths), int64(count))
}

func gap(gap float64) []strictjson.Field {
	return []strictjson.Field{{Name: "gap", Value: finite(gap)}}
}

func (c *call) sequenceDecode(a *C.sequence_decode_call) error {
	o, matrix := c.object("model", a.model, chain), c.matrix("rows", a.rows)
	if c.err != nil {
		return c.err
	}
	m := o.Model.(*model.Chain)
	unary, err := sequence.UnaryOf(m, matrix)
	if err != nil {
		return err
	}
	return c.decode(decoding{m, unary, matrix.Rows(), a.lengths, a.n_sequences, a.threads, a.tags, a.scores,
		a.margins, a.marginals})
}

func (c *call) sequenceDecodeScores(a *C.sequence_decode_scores_call) error {
	tags, n := int64(a.n_tags), int64(a.n_rows)
	switch {
	case tags < 1 || tags > math.MaxInt32:
		return fault.Argument("n_tags is %d: use 1 to %d", tags, math.MaxInt32)
	case n < 1 || n > math.MaxInt32:
		return fault.Argument("n_rows is %d: use 1 to %d", n, math.MaxInt32)
	}
	if err := memory.Need(24*float64(tags*tags), "a chain of so many tags", "use fewer tags"); err != nil {
		return err
	}
	m := &model.Chain{Tags: int(tags),
		Transitions: slice[float64](c, "transitions", unsafe.Pointer(a.transitions), tags*tags),
		Start:       slice[float64](c, "start", unsafe.Pointer(a.start), tags),
		End:         slice[float64](c, "end", unsafe.Pointer(a.end), tags)}
	all := slice[float64](c, "unary", unsafe.Pointer(a.unary), n*tags)
	unary := func(first, end int, _ []float64) []float64 { return all[first*m.Tags : end*m.Tags] }
	return c.decode(decoding{m, unary, int(n), a.lengths, a.n_sequences, a.threads, a.tags, a.scores, a.margins,
		a.marginals})
}

// decoding is what is decoded, and where the caller wants the answers; each of the last four may be NULL.
type decoding struct {
	*model.Chain
	unary                      sequence.Unary
	rows                       int
	lengths                    *C.int64_t
	count                      C.int64_t
	threads                    C.int32_t
	tags                       *C.int32_t
	scores, margins, marginals *C.double
}

func (c *call) decode(d decoding) error {
	pool, given := c.pool(d.threads), c.lengths(d.lengths, d.count, d.rows)
	if c.err != nil {
		return c.err
	}
	bounds, err := sequence.Bounds(given, d.rows)
	c.fail(err)
	to := sequence.Decoded{
		Tags:      optional[int32](c, "tags", unsafe.Pointer(d.tags), int64(d.rows)),
		Scores:    optional[float64](c, "scores", unsafe.Pointer(d.scores), int64(d.count)),
		Margins:   optional[float64](c, "margins", unsafe.Pointer(d.margins), int64(d.count)),
		Marginals: optional[float64](c, "marginals", unsafe.Pointer(d.marginals), int64(d.rows)*int64(d.Tags)),
	}
	if c.err != nil {
		return c.err
	}
	return sequence.Decode(pool, d.Chain, bounds, d.unary, to)
}
