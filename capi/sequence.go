package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"math"
	"slices"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sequence"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// chain is what the handle of a sequence model stands for: the model and, directly after its fit, what a file does not
// keep.
type chain struct {
	*model.Chain
	gap        float64   // NaN: not known
	objectives []float64 // nil: not known
}

// saved is what goes into a file; metadata nil: what the model has.
func (c *chain) saved(metadata json.RawMessage) model.Model {
	m := *c.Chain // a copy: other threads may be reading the model
	if metadata != nil {
		m.Metadata = metadata
	}
	return &m
}

// arrays lists what fewlabel_array can give.
func (c *chain) arrays() []array {
	list := []array{{name: "coef", values: c.Coef}, {name: "transitions", values: c.Transitions},
		{name: "start", values: c.Start}, {name: "end", values: c.End}}
	if c.objectives != nil {
		list = append(list, array{name: "history.objective", values: c.objectives})
	}
	return list
}

// report is the text of fewlabel_report.
func (c *chain) report() (string, error) {
	text, err := json.Marshal(map[string]any{
		"n_tags": c.Tags, "n_features": c.Features, "method": c.Method, "n_iter": c.Iterations,
		"objective": finite(c.Objective), "gap": finite(c.gap), "termination_condition": c.Termination,
		"warnings": append([]warning.Warning{}, c.Warnings...), "metadata": c.Metadata,
		"arrays": lengths(c.arrays()),
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
	options *C.const_char, progress *C.fewlabel_progress, fitted *C.int64_t, message *C.char, size C.int64_t,
) C.int32_t {
	status := guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		handle, err := output(c, "model", fitted)
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
		*handle = C.int64_t(handles.add(&chain{result.Model, result.Gap, result.Objectives}))
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
		from, err := chainAt("start", int64(start))
		if err != nil {
			return p, err
		}
		p.Start = from.Chain
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
	description *C.const_char, coef, transitions, start, end *C.const_double, handle *C.int64_t, message *C.char,
	size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		dst, err := output(c, "model", handle)
		if err != nil {
			return err
		}
		text, err := c.text("description", description)
		if err != nil {
			return err
		}
		m := model.Chain{Report: model.Report{Objective: math.NaN()}}
		if err := describeChain(text, &m); err != nil {
			return err
		}
		if err := c.copyChain(&m, transitions, start, end); err != nil {
			return err
		}
		weights, err := slice[float64](c, "coef", unsafe.Pointer(coef), int64(m.Features)*int64(m.Tags))
		if err != nil {
			return err
		}
		m.Coef = slices.Clone(weights)
		if err := model.Check(&m); err != nil {
			return err
		}
		*dst = C.int64_t(handles.add(&chain{Chain: &m, gap: math.NaN()}))
		return nil
	}))
}

// describeChain sets all but the numbers of a model of sequences.
func describeChain(text string, m *model.Chain) error {
	err := describe(text, &m.Report, []strictjson.Field{
		{Name: "n_tags", Value: &m.Tags}, {Name: "n_features", Value: &m.Features},
	})
	if err != nil {
		return err
	}
	return model.CheckShape(m)
}

// copyChain copies the scores of a chain.
func (c *call) copyChain(m *model.Chain, transitions, start, end *C.const_double) error {
	if m.Tags < 1 || m.Tags > math.MaxInt32 {
		return fault.Argument("n_tags is %d: use 1 to %d", m.Tags, math.MaxInt32)
	}
	tags := int64(m.Tags)
	if err := memory.Need(24*float64(tags*tags), "a chain of so many tags", "use fewer tags"); err != nil {
		return err
	}
	for _, part := range []struct {
		name   string
		from   *C.const_double
		length int64
		to     *[]float64
	}{{"transitions", transitions, tags * tags, &m.Transitions}, {"start", start, tags, &m.Start}, {"end", end, tags, &m.End}} {
		values, err := slice[float64](c, part.name, unsafe.Pointer(part.from), part.length)
		if err != nil {
			return err
		}
		*part.to = slices.Clone(values)
	}
	return nil
}

//export go_fewlabel_sequence_decode
func go_fewlabel_sequence_decode(
	handle C.int64_t, rows *C.const_csr, lengths *C.const_int64, sequences C.int64_t, threads C.int32_t,
	tags *C.int32_t, scores, margins, marginals *C.double, message *C.char, size C.int64_t,
) C.int32_t {
	return C.int32_t(guard(unsafe.Pointer(message), int64(size), func(c *call) error {
		m, err := chainAt("model", int64(handle))
		if err != nil {
			return err
		}
		matrix, err := c.matrix(rows)
		if err != nil {
			return err
		}
		unary, err := sequence.UnaryOf(m.Chain, matrix)
		if err != nil {
			return err
		}
		return c.decode(m.Chain, unary, matrix.Rows(), lengths, sequences, threads,
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
		m := model.Chain{Tags: int(tagCount)}
		if err := c.copyChain(&m, transitions, start, end); err != nil {
			return err
		}
		if rows < 1 || rows > math.MaxInt32 {
			return fault.Argument("n_rows is %d: use 1 to %d", int64(rows), math.MaxInt32)
		}
		all, err := slice[float64](c, "unary", unsafe.Pointer(unary), int64(rows)*int64(tagCount))
		if err != nil {
			return err
		}
		given := func(first, end int, _ []float64) []float64 { return all[first*m.Tags : end*m.Tags] }
		return c.decode(&m, given, int(rows), lengths, sequences, threads,
			decodeOutputs{tags, scores, margins, marginals})
	}))
}

// decodeOutputs are where the caller wants the answers; each may be NULL.
type decodeOutputs struct {
	tags                       *C.int32_t
	scores, margins, marginals *C.double
}

func (c *call) decode(
	m *model.Chain, unary sequence.Unary, rows int, lengths *C.const_int64, count C.int64_t, threads C.int32_t,
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
		{"marginals", to.marginals, rows * m.Tags, &found.Marginals},
	} {
		if part.from == nil {
			continue
		}
		if *part.to, err = slice[float64](c, part.name, unsafe.Pointer(part.from), int64(part.count)); err != nil {
			return err
		}
	}
	return sequence.Decode(pool, m, bounds, unary, found)
}
