package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/svmlight"
)

//export go_fewlabel_svmlight_read
func go_fewlabel_svmlight_read(
	path, labelsPath *C.const_char, zeroBased C.int32_t, features, expansion C.int64_t, threads C.int32_t,
	progress *C.fewlabel_progress, data *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	status := guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		handle, err := output(c, "data", data)
		if err != nil {
			return err
		}
		file, err := c.text("path", path)
		if err != nil {
			return err
		}
		options, err := c.readOptions(labelsPath, zeroBased, threads)
		if err != nil {
			return err
		}
		options.Features, options.MaxExpansion = int(features), int(expansion)
		if options.Progress, err = c.progress(progress); err != nil {
			return err
		}
		read, err := svmlight.Read(file, options)
		if err != nil {
			return err
		}
		*handle = C.int64_t(handles.add(read))
		return nil
	})
	releaseMemory()
	return C.int32_t(status)
}

// readOptions checks the arguments of fewlabel_svmlight_read of which package svmlight knows nothing.
func (c *call) readOptions(labelsPath *C.const_char, zeroBased, threads C.int32_t) (svmlight.ReadOptions, error) {
	var options svmlight.ReadOptions
	pool, err := poolOf(threads)
	if err != nil {
		return options, err
	}
	options.Threads = pool.Threads()
	if options.ZeroBased, err = flag("zero_based", zeroBased); err != nil {
		return options, err
	}
	options.LabelsPath, err = c.optionalText("labels_path", labelsPath)
	return options, err
}

//export go_fewlabel_svmlight_shape
func go_fewlabel_svmlight_shape(
	handle C.int64_t, rows, features, values, labels *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		data, err := dataAt(int64(handle))
		if err != nil {
			return err
		}
		return c.giveSizes([]wantedSize{
			{"n_rows", rows, data.Rows}, {"n_features", features, data.Features},
			{"n_values", values, len(data.Values)}, {"n_labels", labels, len(data.Labels)},
		})
	}))
}

//export go_fewlabel_svmlight_copy
func go_fewlabel_svmlight_copy(
	handle C.int64_t, indptr *C.int64_t, indices *C.int32_t, values, labels *C.double, labelIndptr *C.int64_t,
	message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		data, err := dataAt(int64(handle))
		if err != nil {
			return err
		}
		for _, fill := range []error{
			give(c, "indptr", unsafe.Pointer(indptr), data.Indptr),
			give(c, "indices", unsafe.Pointer(indices), data.Indices),
			give(c, "values", unsafe.Pointer(values), data.Values),
			give(c, "labels", unsafe.Pointer(labels), data.Labels),
			give(c, "label_indptr", unsafe.Pointer(labelIndptr), data.LabelIndptr),
		} {
			if fill != nil {
				return fill
			}
		}
		return nil
	}))
}

// give copies an array to the caller, unless the caller does not want it.
func give[T any](c *call, name string, dst unsafe.Pointer, source []T) error {
	if dst == nil {
		return nil
	}
	room, err := slice[T](c, name, dst, int64(len(source)))
	copy(room, source)
	return err
}

//export go_fewlabel_svmlight_write
func go_fewlabel_svmlight_write(
	path *C.const_char, rows *C.const_csr, labels *C.const_double, zeroBased C.int32_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		file, err := c.text("path", path)
		if err != nil {
			return err
		}
		fromZero, err := flag("zero_based", zeroBased)
		if err != nil {
			return err
		}
		matrix, err := c.matrix(rows)
		if err != nil {
			return err
		}
		targets, err := slice[float64](c, "labels", unsafe.Pointer(labels), int64(matrix.Rows()))
		if err != nil {
			return err
		}
		return svmlight.Write(file, matrix, targets, fromZero)
	}))
}
