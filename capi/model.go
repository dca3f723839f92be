package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	csr "github.com/fewlabel/fewlabel/engine/rows"
)

//export go_fewlabel_shape
func go_fewlabel_shape(
	handle C.int64_t, classes, features, outputs *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		m, err := modelAt("model", int64(handle))
		if err != nil {
			return err
		}
		return c.giveSizes([]wantedSize{
			{"n_classes", classes, m.Classes}, {"n_features", features, m.Features}, {"n_outputs", outputs, m.Outputs},
		})
	}))
}

//export go_fewlabel_report
func go_fewlabel_report(
	handle C.int64_t, text *C.char, textSize C.int64_t, needed *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		m, err := reportedAt(int64(handle))
		if err != nil {
			return err
		}
		content, err := m.report()
		if err != nil {
			return err
		}
		return c.giveText(content, text, textSize, needed)
	}))
}

//export go_fewlabel_array
func go_fewlabel_array(
	handle C.int64_t, name *C.const_char, values *C.double, length C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		m, err := reportedAt(int64(handle))
		if err != nil {
			return err
		}
		wanted, err := c.text("name", name)
		if err != nil {
			return err
		}
		source, err := arrayOf(m, wanted)
		if err != nil {
			return err
		}
		if int64(length) != int64(source.length()) {
			return fault.Argument("length is %d: %q has %d values", int64(length), wanted, source.length())
		}
		dst, err := slice[float64](c, "values", unsafe.Pointer(values), int64(length))
		if err != nil {
			return err
		}
		source.copyTo(dst)
		return nil
	}))
}

//export go_fewlabel_decision
func go_fewlabel_decision(
	handle C.int64_t, rows *C.const_csr, threads C.int32_t, decisions *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(decision(unsafe.Pointer(message), int64(size), handle, threads, decisions,
		func(c *call) (*csr.Matrix, error) { return c.matrix(rows) }))
}

//export go_fewlabel_decision_dense
func go_fewlabel_decision_dense(
	handle C.int64_t, rows *C.const_dense, threads C.int32_t, decisions *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(decision(unsafe.Pointer(message), int64(size), handle, threads, decisions,
		func(c *call) (*csr.Matrix, error) { return c.dense(rows) }))
}

func decision(
	message unsafe.Pointer, size int64, handle C.int64_t, threads C.int32_t, decisions *C.double,
	rows func(c *call) (*csr.Matrix, error),
) int32 {
	return guard(message, size, func(c *call) error {
		m, err := modelAt("model", int64(handle))
		if err != nil {
			return err
		}
		pool, err := poolOf(threads)
		if err != nil {
			return err
		}
		matrix, err := rows(c)
		if err != nil {
			return err
		}
		dst, err := slice[float64](c, "decisions", unsafe.Pointer(decisions), int64(matrix.Rows()*m.Outputs))
		if err != nil {
			return err
		}
		return m.Decisions(pool, matrix, dst)
	})
}

//export go_fewlabel_decision_with
func go_fewlabel_decision_with(
	rows *C.const_csr, coef, intercept *C.const_double, outputs C.int64_t, byFeature, threads C.int32_t,
	decisions *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		pool, err := poolOf(threads)
		if err != nil {
			return err
		}
		view, err := c.rows(rows)
		if err != nil {
			return err
		}
		weights, err := c.weights(coef, intercept, int64(outputs), rows, byFeature)
		if err != nil {
			return err
		}
		dst, err := slice[float64](c, "decisions", unsafe.Pointer(decisions), int64(outputs)*int64(rows.n_rows))
		if err != nil {
			return err
		}
		return view.Decisions(pool, weights, dst)
	}))
}

// weights views those of the caller for the features of rows that have been looked at.
func (c *call) weights(
	coef, intercept *C.const_double, outputs int64, rows *C.const_csr, byFeature C.int32_t,
) (by csr.Weights, err error) {
	if outputs < 1 || outputs > addressSpace/max(1, int64(rows.n_rows), int64(rows.n_features)) {
		return by, fault.Argument("n_outputs is %d", outputs)
	}
	if by.ByFeature, err = flag("by_feature", byFeature); err != nil {
		return by, err
	}
	if by.Coef, err = unread[float64](c, "coef", unsafe.Pointer(coef), outputs*int64(rows.n_features)); err != nil {
		return by, err
	}
	by.Intercept, err = slice[float64](c, "intercept", unsafe.Pointer(intercept), outputs)
	return by, err
}

//export go_fewlabel_predict
func go_fewlabel_predict(
	handle C.int64_t, rows *C.const_csr, threads C.int32_t, classes *C.int32_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(predict(unsafe.Pointer(message), int64(size), handle, threads, classes,
		func(c *call) (*csr.Matrix, error) { return c.matrix(rows) }))
}

//export go_fewlabel_predict_dense
func go_fewlabel_predict_dense(
	handle C.int64_t, rows *C.const_dense, threads C.int32_t, classes *C.int32_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(predict(unsafe.Pointer(message), int64(size), handle, threads, classes,
		func(c *call) (*csr.Matrix, error) { return c.dense(rows) }))
}

func predict(
	message unsafe.Pointer, size int64, handle C.int64_t, threads C.int32_t, classes *C.int32_t,
	rows func(c *call) (*csr.Matrix, error),
) int32 {
	return guard(message, size, func(c *call) error {
		m, err := modelAt("model", int64(handle))
		if err != nil {
			return err
		}
		pool, err := poolOf(threads)
		if err != nil {
			return err
		}
		matrix, err := rows(c)
		if err != nil {
			return err
		}
		dst, err := slice[int32](c, "classes", unsafe.Pointer(classes), int64(matrix.Rows()))
		if err != nil {
			return err
		}
		return m.Predict(pool, matrix, dst)
	})
}

//export go_fewlabel_save
func go_fewlabel_save(
	handle C.int64_t, path, metadata *C.const_char, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		m, err := reportedAt(int64(handle))
		if err != nil {
			return err
		}
		file, err := c.text("path", path)
		if err != nil {
			return err
		}
		extra, err := c.optionalText("metadata", metadata)
		if err != nil {
			return err
		}
		if metadata == nil {
			return model.Save(file, m.saved(nil))
		}
		return model.Save(file, m.saved(json.RawMessage(extra)))
	}))
}

//export go_fewlabel_load
func go_fewlabel_load(path *C.const_char, handle *C.int64_t, message *C.char, size C.int64_t) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		dst, err := output(c, "model", handle)
		if err != nil {
			return err
		}
		file, err := c.text("path", path)
		if err != nil {
			return err
		}
		loaded, err := model.Load(file)
		if err != nil {
			return err
		}
		m, err := fromFile(loaded)
		if err != nil {
			return err
		}
		*dst = C.int64_t(handles.add(m))
		return nil
	}))
}

// fromFile is what the handle of a model from a file stands for.
func fromFile(loaded model.Model) (reported, error) {
	switch m := loaded.(type) {
	case *model.Linear:
		return &trained{Linear: m}, nil
	case *model.Chain:
		return &chain{Chain: m, gap: math.NaN()}, nil
	case *model.Structure:
		return &structured{m}, nil
	}
	return nil, fault.Defect("there are no handles of models of kind %s", loaded.Kind())
}
