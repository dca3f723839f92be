package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/svmlight"
)

func (c *call) svmlightRead(a *C.svmlight_read_call) error {
	dst, file := output(c, "data", a.data), c.text("path", a.path)
	sizes := slice[int64](c, "sizes", unsafe.Pointer(a.sizes), 4)
	options := svmlight.ReadOptions{ZeroBased: c.flag("zero_based", a.zero_based),
		LabelsPath: c.optionalText("labels_path", a.labels_path), Features: int(a.n_features),
		MaxExpansion: int(a.max_expansion), Progress: c.progress(a.progress)}
	read, err := svmlight.Read(file, options)
	if err == nil {
		*dst = C.int64_t(handles.add(&object{data: read}))
		copy(sizes, []int64{int64(read.Rows), int64(read.Features), int64(len(read.Values)), int64(len(read.Labels))})
	}
	return err
}

func (c *call) svmlightWrite(a *C.svmlight_write_call) error {
	file, fromZero, matrix := c.text("path", a.path), c.flag("zero_based", a.zero_based), c.matrix("rows", a.rows)
	targets := slice[float64](c, "labels", unsafe.Pointer(a.labels), int64(matrix.Rows()))
	return svmlight.Write(file, matrix, targets, fromZero)
}
