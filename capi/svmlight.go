package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/svmlight"
)

func (c *call) svmlightRead(a *C.svmlight_read_call) error {
	dst, file := output(c, "data", a.data), c.text("path", a.path)
	options := svmlight.ReadOptions{Threads: c.pool(a.threads).Threads(), ZeroBased: c.flag("zero_based", a.zero_based),
		LabelsPath: c.optionalText("labels_path", a.labels_path), Features: int(a.n_features),
		MaxExpansion: int(a.max_expansion), Progress: c.progress(a.progress)}
	if c.err != nil {
		return c.err
	}
	read, err := svmlight.Read(file, options)
	if err == nil {
		*dst = C.int64_t(handles.add(fromData(read)))
	}
	return err
}

// fromData keeps a file that was read.
func fromData(d *svmlight.Data) *object {
	return &object{data: d, facts: []strictjson.Field{
		{Name: "n_rows", Value: d.Rows}, {Name: "n_features", Value: d.Features},
		{Name: "n_values", Value: len(d.Values)}, {Name: "n_labels", Value: len(d.Labels)},
	}}
}

func (c *call) svmlightWrite(a *C.svmlight_write_call) error {
	file, fromZero, matrix := c.text("path", a.path), c.flag("zero_based", a.zero_based), c.matrix("rows", a.rows)
	if c.err != nil {
		return c.err
	}
	targets := slice[float64](c, "labels", unsafe.Pointer(a.labels), int64(matrix.Rows()))
	if c.err != nil {
		return c.err
	}
	return svmlight.Write(file, matrix, targets, fromZero)
}
