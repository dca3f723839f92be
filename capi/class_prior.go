package main

// #include "capi.h"
import "C"

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	csr "github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
)

//export go_fewlabel_class_prior
func go_fewlabel_class_prior(
	rows *C.const_csr, labels *C.const_int32, weights *C.const_double, options *C.const_char,
	shares, lower, upper *C.double, classes C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(classPrior(unsafe.Pointer(message), int64(size), fitArguments{
		rows:   func(c *call) (*csr.Matrix, error) { return c.matrix(rows) },
		labels: labels, weights: weights, options: options,
	}, shareArrays{shares, lower, upper, int64(classes)}))
}

//export go_fewlabel_class_prior_dense
func go_fewlabel_class_prior_dense(
	rows *C.const_dense, labels *C.const_int32, weights *C.const_double, options *C.const_char,
	shares, lower, upper *C.double, classes C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(classPrior(unsafe.Pointer(message), int64(size), fitArguments{
		rows:   func(c *call) (*csr.Matrix, error) { return c.dense(rows) },
		labels: labels, weights: weights, options: options,
	}, shareArrays{shares, lower, upper, int64(classes)}))
}

// shareArrays are where the caller wants class shares and the ends of their intervals; lower and upper may be NULL.
type shareArrays struct {
	shares, lower, upper *C.double
	classes              int64
}

func classPrior(message unsafe.Pointer, size int64, a fitArguments, to shareArrays) int32 {
	status := guard(message, size, func(c *call) error {
		outputs, err := c.shareArrays(to)
		if err != nil {
			return err
		}
		text, err := c.optionalText("options", a.options)
		if err != nil {
			return err
		}
		chosen, err := sample.DecodeShareOptions([]byte(text))
		if err != nil {
			return err
		}
		p, err := c.problem(a)
		if err != nil {
			return err
		}
		interval := to.lower != nil || to.upper != nil
		found, err := sample.ClassShares(p, chosen, int(to.classes), interval)
		if err != nil {
			return err
		}
		copy(outputs[0], found.Share)
		copy(outputs[1], found.Lower)
		copy(outputs[2], found.Upper)
		return nil
	})
	releaseMemory()
	return status
}

// shareArrays views the arrays; one that is not wanted is nil.
func (c *call) shareArrays(to shareArrays) (out [3][]float64, err error) {
	if to.classes < 2 {
		return out, fault.Argument("n_classes is %d: use 2 or more", to.classes)
	}
	for k, array := range []struct {
		name string
		at   *C.double
	}{{"shares", to.shares}, {"lower", to.lower}, {"upper", to.upper}} {
		if array.at == nil && k > 0 {
			continue
		}
		if out[k], err = slice[float64](c, array.name, unsafe.Pointer(array.at), to.classes); err != nil {
			return out, err
		}
	}
	return out, nil
}
