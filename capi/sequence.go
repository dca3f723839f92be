package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/sequence"
)

// chain is what the handle of a sequence model stands for: the model and, directly after a fit, what the fit found out.
type chain struct {
	*sequence.Result
}

// arrays lists what fewlabel_array can give.
func (c *chain) arrays() []array {
	m := c.Model
	list := []array{{name: "coef", values: m.Coef}, {name: "transitions", values: m.Chain.Pair},
		{name: "start", values: m.Chain.Start}, {name: "end", values: m.Chain.End}}
	if c.Objectives != nil {
		list = append(list, array{name: "history.objective", values: c.Objectives})
	}
	return list
}

// report is the text of fewlabel_report.
func (c *chain) report() (string, error) {
	text, err := json.Marshal(map[string]any{
		"n_tags": c.Model.Tags, "n_features": c.Model.Features, "n_iter": c.Iterations, "objective": finite(c.Objective),
		"gap": finite(c.Gap), "termination_condition": c.Termination, "arrays": lengths(c.arrays()),
	})
	if err != nil {
		return "", fault.Defect("the report of a model cannot be written: %v", err)
	}
	return string(text), nil
}

//export go_fewlabel_sequence_options
func go_fewlabel_sequence_options(
	text *C.char, textSize C.int64_t, needed *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		return c.giveText(sequence.OptionsText(), text, textSize, needed)
	}))
}

//export go_fewlabel_sequence_fit
func go_fewlabel_sequence_fit(
	rows *C.const_csr, lengths *C.const_int64, sequences C.int64_t, labels *C.const_int32, start C.int64_t,
	options *C.const_char, progress *C.fewlabel_progress, model *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	status := guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		handle, err := output(c, "model", model)
		if err != nil {
			return err
		}
		text, err := c.optionalText("options", options)
		if err != nil {
			return err
		}
		chosen, err := sequence.DecodeOptions([]byte(text))
		if err != nil {
			return err
		}
		p, err := c.sequences(rows, lengths, sequences, labels, start)
		if err != nil {
			return err
		}
		shared, err := c.progress(progress)
		if err != nil {
			return err
		}
		result, err := sequence.Fit(p, chosen, shared)
		if err != nil {
			return err
		}
		*handle = C.int64_t(handles.add(&chain{result}))
		return nil
	})
	releaseMemory()
	return C.int32_t(status)
}

// sequences views the training data.
func (c *call) sequences(
	rows *C.const_csr, lengths *C.const_int64, count C.int64_t, labels *C.const_int32, start C.int64_t,
) (p sequence.Problem, err error) {
	if p.Rows, err = c.matrix(rows); err != nil {
		return p, err
	}
	if p.Lengths, err = c.lengths(lengths, count, p.Rows.Rows()); err != nil {
		return p, err
	}
	if p.Labels, err = slice[int32](c, "labels", unsafe.Pointer(labels), int64(p.Rows.Rows())); err != nil {
		return p, err
	}
	if start != 0 {
		from, err := chainAt(int64(start))
		if err != nil {
			return p, err
		}
		p.Start = from.Model
	}
	return p, nil
}

// lengths views the numbers of tokens of sequences, of which there are not more than rows.
func (c *call) lengths(lengths *C.const_int64, count C.int64_t, rows int) ([]int64, error) {
	if count < 1 || int64(count) > int64(rows) {
		return nil, fault.Argument("n_sequences is %d: use 1 to the number of rows, %d", int64(count), rows)
	}
	return slice[int64](c, "lengths", unsafe.Pointer(lengths), int64(count))
}

//export go_fewlabel_sequence_assemble
func go_fewlabel_sequence_assemble(
	tags, features C.int64_t, coef, transitions, start, end *C.const_double, model *C.int64_t, message *C.char,
	size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		handle, err := output(c, "model", model)
		if err != nil {
			return err
		}
		if features < 1 || features > math.MaxInt32 {
			return fault.Argument("n_features is %d: use 1 to %d", int64(features), math.MaxInt32)
		}
		shared, err := c.chain(tags, transitions, start, end)
		if err != nil {
			return err
		}
		weights, err := slice[float64](c, "coef", unsafe.Pointer(coef), int64(features)*int64(tags))
		if err != nil {
			return err
		}
		own := append([]float64(nil), weights...)
		m := &sequence.Model{Tags: int(tags), Features: int(features), Coef: own, Chain: shared}
		if err := m.Check(); err != nil {
			return err
		}
		*handle = C.int64_t(handles.add(&chain{&sequence.Result{Model: m, Objective: math.NaN(), Gap: math.NaN()}}))
		return nil
	}))
}

// chain copies the scores of a chain.
func (c *call) chain(tags C.int64_t, transitions, start, end *C.const_double) (*sequence.Chain, error) {
	if tags < 1 || tags > math.MaxInt32 {
		return nil, fault.Argument("n_tags is %d: use 1 to %d", int64(tags), math.MaxInt32)
	}
	if err := memory.Need(24*float64(tags)*float64(tags), "a chain of so many tags", "use fewer tags"); err != nil {
		return nil, err
	}
	shared := sequence.NewChain(int(tags))
	for _, part := range []struct {
		name string
		from *C.const_double
		to   []float64
	}{{"transitions", transitions, shared.Pair}, {"start", start, shared.Start}, {"end", end, shared.End}} {
		values, err := slice[float64](c, part.name, unsafe.Pointer(part.from), int64(len(part.to)))
		if err != nil {
			return nil, err
		}
		copy(part.to, values)
	}
	shared.Refresh()
	return shared, shared.Check()
}

//export go_fewlabel_sequence_decode
func go_fewlabel_sequence_decode(
	model C.int64_t, rows *C.const_csr, lengths *C.const_int64, sequences C.int64_t, threads C.int32_t,
	tags *C.int32_t, scores, margins, marginals *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		m, err := chainAt(int64(model))
		if err != nil {
			return err
		}
		matrix, err := c.matrix(rows)
		if err != nil {
			return err
		}
		unary, err := m.Model.Unary(matrix)
		if err != nil {
			return err
		}
		return c.decode(m.Model.Chain, unary, matrix.Rows(), lengths, sequences, threads,
			decodeOutputs{tags, scores, margins, marginals})
	}))
}

//export go_fewlabel_sequence_decode_scores
func go_fewlabel_sequence_decode_scores(
	unary *C.const_double, rows, tagCount C.int64_t, transitions, start, end *C.const_double,
	lengths *C.const_int64, sequences C.int64_t, threads C.int32_t,
	tags *C.int32_t, scores, margins, marginals *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		shared, err := c.chain(tagCount, transitions, start, end)
		if err != nil {
			return err
		}
		if rows < 1 || rows > math.MaxInt32 {
			return fault.Argument("n_rows is %d: use 1 to %d", int64(rows), math.MaxInt32)
		}
		all, err := slice[float64](c, "unary", unsafe.Pointer(unary), int64(rows)*int64(tagCount))
		if err != nil {
			return err
		}
		given := func(first, end int, _ []float64) []float64 { return all[first*shared.Tags : end*shared.Tags] }
		return c.decode(shared, given, int(rows), lengths, sequences, threads,
			decodeOutputs{tags, scores, margins, marginals})
	}))
}

// decodeOutputs are where the caller wants the answers; each may be NULL.
type decodeOutputs struct {
	tags                       *C.int32_t
	scores, margins, marginals *C.double
}

func (c *call) decode(
	shared *sequence.Chain, unary sequence.Unary, rows int, lengths *C.const_int64, count C.int64_t, threads C.int32_t,
	to decodeOutputs,
) error {
	pool, err := poolOf(threads)
	if err != nil {
		return err
	}
	given, err := c.lengths(lengths, count, rows)
	if err != nil {
		return err
	}
	bounds, err := sequence.Bounds(given, rows)
	if err != nil {
		return err
	}
	var found sequence.Decoded
	if to.tags != nil {
		if found.Tags, err = slice[int32](c, "tags", unsafe.Pointer(to.tags), int64(rows)); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name  string
		from  *C.double
		count int
		to    *[]float64
	}{
		{"scores", to.scores, len(given), &found.Scores}, {"margins", to.margins, len(given), &found.Margins},
		{"marginals", to.marginals, rows * shared.Tags, &found.Marginals},
	} {
		if part.from == nil {
			continue
		}
		if *part.to, err = slice[float64](c, part.name, unsafe.Pointer(part.from), int64(part.count)); err != nil {
			return err
		}
	}
	return sequence.Decode(pool, shared, bounds, unary, found)
}
