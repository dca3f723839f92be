package main

// #include "capi.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	engine "github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/method"
	csr "github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
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

//export go_fewlabel_options
func go_fewlabel_options(
	text *C.char, textSize C.int64_t, needed *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		return c.giveText(method.OptionsText(), text, textSize, needed)
	}))
}

//export go_fewlabel_fit
func go_fewlabel_fit(
	rows *C.const_csr, labels *C.const_int32, weights *C.const_double, start C.int64_t,
	options *C.const_char, progress *C.fewlabel_progress, group *C.const_group, model *C.int64_t, message *C.char,
	size C.int64_t,
) C.int32_t {
	return C.int32_t(fit(unsafe.Pointer(message), int64(size), fitArguments{
		rows: func(c *call) (*csr.Matrix, error) {
			if group != nil && rows != nil && rows.n_rows == 0 {
				return csr.Empty(int(rows.n_features), false)
			}
			return c.matrix(rows)
		},
		labels: labels, weights: weights, start: start, options: options, progress: progress, group: group, model: model,
	}))
}

//export go_fewlabel_fit_dense
func go_fewlabel_fit_dense(
	rows *C.const_dense, labels *C.const_int32, weights *C.const_double, start C.int64_t,
	options *C.const_char, progress *C.fewlabel_progress, group *C.const_group, model *C.int64_t, message *C.char,
	size C.int64_t,
) C.int32_t {
	return C.int32_t(fit(unsafe.Pointer(message), int64(size), fitArguments{
		rows: func(c *call) (*csr.Matrix, error) {
			if group != nil && rows != nil && rows.n_rows == 0 {
				return csr.Empty(int(rows.n_features), true)
			}
			return c.dense(rows)
		},
		labels: labels, weights: weights, start: start, options: options, progress: progress, group: group, model: model,
	}))
}

// fitArguments are those of a fit with rows of any kind.
type fitArguments struct {
	rows     func(c *call) (*csr.Matrix, error)
	labels   *C.const_int32
	weights  *C.const_double
	start    C.int64_t
	options  *C.const_char
	progress *C.fewlabel_progress
	group    *C.const_group
	model    *C.int64_t
}

func fit(message unsafe.Pointer, size int64, a fitArguments) int32 {
	status := guard(message, size, func(c *call) error {
		group, err := c.group(a.group)
		if err != nil {
			return err
		}
		return group.Run(func() error { return c.fit(a, group) })
	})
	releaseMemory()
	return status
}

func (c *call) fit(a fitArguments, group *work.Group) error {
	handle, err := output(c, "model", a.model)
	if err != nil {
		return err
	}
	chosen, err := c.options(a.options)
	if err != nil {
		return err
	}
	problem, err := c.problem(a)
	if err != nil {
		return err
	}
	if a.start != 0 {
		from, err := modelAt("start", int64(a.start))
		if err != nil {
			return err
		}
		problem.Start = from.Linear
	}
	shared, err := c.progress(a.progress)
	if err != nil {
		return err
	}
	result, err := engine.FitTogether(problem, chosen, shared, group)
	if err != nil {
		return err
	}
	*handle = C.int64_t(handles.add(fromFit(result)))
	return nil
}

// group views the machines that share the rows; NULL is nobody else.
func (c *call) group(g *C.const_group) (*work.Group, error) {
	if g == nil {
		return nil, nil
	}
	if err := c.borrow("group", unsafe.Pointer(g), 1, C.sizeof_fewlabel_group); err != nil {
		return nil, err
	}
	rank, size := int(g.rank), int(g.size)
	switch {
	case size < 1 || rank < 0 || rank >= size:
		return nil, fault.Argument("group.rank is %d of size %d: ranks are 0 ... size-1", rank, size)
	case g.allreduce == nil:
		return nil, fault.Argument("group.allreduce is NULL")
	}
	return &work.Group{Rank: rank, Size: size, Sum: func(values []float64) error {
		first := (*C.double)(unsafe.Pointer(unsafe.SliceData(values)))
		if status := C.shim_allreduce(g, first, C.int64_t(len(values))); status != 0 {
			return fmt.Errorf("allreduce returned %d", int(status))
		}
		return nil
	}}, nil
}

// options decodes the options of a fit; NULL stands for the defaults.
func (c *call) options(text *C.const_char) (method.Options, error) {
	content, err := c.optionalText("options", text)
	if err != nil {
		return method.Options{}, err
	}
	if text == nil {
		content = "{}"
	}
	return method.DecodeOptions([]byte(content))
}

// problem views the training data.
func (c *call) problem(a fitArguments) (p sample.Problem, err error) {
	if p.Rows, err = a.rows(c); err != nil {
		return p, err
	}
	n := int64(p.Rows.Rows())
	if p.Labels, err = slice[int32](c, "labels", unsafe.Pointer(a.labels), n); err != nil {
		return p, err
	}
	if a.weights != nil {
		p.Weights, err = slice[float64](c, "weights", unsafe.Pointer(a.weights), n)
	}
	return p, err
}

// progress views the struct that the fit shares with its caller; both sides use it with atomic operations, which need
// an aligned address.
func (c *call) progress(p *C.fewlabel_progress) (*work.Progress, error) {
	if p == nil {
		return nil, nil
	}
	if uintptr(unsafe.Pointer(p))%unsafe.Alignof(work.Progress{}) != 0 {
		return nil, fault.Argument("progress is not aligned to %d bytes", unsafe.Alignof(work.Progress{}))
	}
	return output(c, "progress", (*work.Progress)(unsafe.Pointer(p)))
}
