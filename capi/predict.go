package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
)

func (c *call) predict(a *C.predict_call) error {
	o, pool, matrix := c.object("model", a.model, linear), c.pool(a.threads), c.matrix("rows", a.rows)
	n, m := int64(matrix.Rows()), o.Model.(*model.Linear)
	classes := optional[int32](c, "classes", unsafe.Pointer(a.classes), n)
	decisions := optional[float64](c, "decisions", unsafe.Pointer(a.decisions), n*int64(m.Outputs))
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
	pool, view := c.pool(a.threads), c.rows("rows", a.rows)
	n, features, outputs := int64(a.rows.n_rows), int64(a.rows.n_features), int64(a.n_outputs)
	if outputs < 1 || outputs > addressSpace/max(1, n, features) {
		return fault.Argument("n_outputs is %d", outputs)
	}
	by := rows.Weights{ByFeature: c.flag("by_feature", a.by_feature),
		Coef:      unread[float64](c, "coef", unsafe.Pointer(a.coef), outputs*features),
		Intercept: slice[float64](c, "intercept", unsafe.Pointer(a.intercept), outputs)}
	dst := slice[float64](c, "decisions", unsafe.Pointer(a.decisions), outputs*n)
	return view.Decisions(pool, by, dst)
}
