package main

// #include "capi.h"
import "C"

import (
	"runtime/debug"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sequence"
)

func (c *call) predict(a *C.predict_call) error {
	o, pool, matrix := c.object("model", a.model, linear), c.pool(a.threads), c.matrix("rows", a.rows)
	n, m := int64(matrix.Rows()), o.Model.(*model.Linear)
	classes := optional[int32](c, "classes", a.classes, n)
	decisions := optional[float64](c, "decisions", a.decisions, n*int64(m.Outputs))
	switch {
	case a.classes == nil && a.decisions == nil:
		return fault.Argument("classes and decisions are both NULL")
	case a.classes != nil:
		if err := m.Predict(pool, matrix, classes); err != nil || a.decisions == nil {
			return err
		}
	}
	return m.Decisions(pool, matrix, decisions)
}

func (c *call) decisionWith(a *C.decision_with_call) error {
	pool := c.pool(a.threads)
	view, err := c.rows("rows", a.rows)
	check(err)
	n, features, outputs := int64(a.rows.n_rows), int64(a.rows.n_features), int64(a.n_outputs)
	if outputs < 1 || outputs > addressSpace/max(1, n, features) {
		return fault.Argument("n_outputs is %d", outputs)
	}
	by := rows.Weights{ByFeature: c.flag("by_feature", a.by_feature),
		Coef:      unread[float64](c, "coef", a.coef, outputs*features),
		Intercept: slice[float64](c, "intercept", a.intercept, outputs)}
	dst := slice[float64](c, "decisions", a.decisions, outputs*n)
	return view.Decisions(pool, by, dst)
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

// lengths views the numbers of tokens of sequences, of which there are not more than rows.
func (c *call) lengths(lengths *C.int64_t, count C.int64_t, rows int) []int64 {
	if count < 1 || int64(count) > int64(rows) {
		check(fault.Argument("n_sequences is %d: use 1 to the number of rows, %d", int64(count), rows))
	}
	return slice[int64](c, "lengths", lengths, int64(count))
}

// longDecisions are multiplications that take longer than about a millisecond: they get a thread of their own (shim.c).
const longDecisions = 1 << 20

// go_takes_long looks at the outputs of a model, if there is one. A struct that cannot be read is left to the function
// that was called.
//
//export go_takes_long
func go_takes_long(handle, outputs C.int64_t, rows *C.const_rows) (long C.int32_t) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { _ = recover() }()
	if o, known := handles.objects.Load(int64(handle)); known {
		if m, ok := o.(*object).Model.(*model.Linear); ok {
			outputs = C.int64_t(m.Outputs)
		}
	}
	factors := float64(rows.n_rows) + float64(rows.n_values)
	if rows.kind == C.FEWLABEL_DENSE {
		factors = float64(rows.n_rows) * float64(rows.n_features)
	}
	if float64(outputs)*factors > longDecisions {
		long = 1
	}
	return long
}
