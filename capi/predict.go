package main

// #include "capi.h"
import "C"

import (
	"runtime/debug"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
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

// longDecisions are multiplications that take longer than about a millisecond: they get a thread of their own (shim.c).
const longDecisions = 1 << 20

// go_outputs is what a value of a row is multiplied with.
//
//export go_outputs
func go_outputs(handle C.int64_t) C.int64_t {
	o, err := handles.at("model", int64(handle), linear)
	if err != nil {
		return 0
	}
	return C.int64_t(o.Model.(*model.Linear).Outputs)
}

//export go_many_rows
func go_many_rows(outputs C.int64_t, rows *C.const_rows) C.int32_t {
	long := many(func() float64 {
		if rows.kind == C.FEWLABEL_DENSE {
			return float64(outputs) * float64(rows.n_rows) * float64(rows.n_features)
		}
		return float64(outputs) * (float64(rows.n_rows) + float64(rows.n_values))
	})
	if long {
		return 1
	}
	return 0
}

// many reports whether decisions take long. A struct that cannot be read is left to the function that was called.
func many(multiplications func() float64) (long bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { _ = recover() }()
	return multiplications() > longDecisions
}
