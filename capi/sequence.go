package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sequence"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// chain is what the handle of a sequence model stands for: its numbers, what its fit said of itself and, directly after
// the fit, what a file does not keep.
type chain struct {
	*sequence.Model
	said       model.Report
	gap        float64   // NaN: not known
	objectives []float64 // nil: not known
}

// fromSequences keeps what a fit with a loss found.
func fromSequences(r *sequence.Result, loss string) *chain {
	return &chain{Model: r.Model, gap: r.Gap, objectives: r.Objectives, said: model.Report{
		Method: loss, Iterations: r.Iterations, Objective: r.Objective, Termination: r.Termination}}
}

// chainFrom makes a model from a file ready to decode.
func chainFrom(m *model.Chain) (*chain, error) {
	shared, err := newChain(m.Tags)
	if err != nil {
		return nil, err
	}
	copy(shared.Pair, m.Transitions)
	copy(shared.Start, m.Start)
	copy(shared.End, m.End)
	shared.Refresh()
	numbers := &sequence.Model{Tags: m.Tags, Features: m.Features, Coef: m.Coef, Chain: shared}
	return &chain{Model: numbers, said: m.Report, gap: math.NaN()}, nil
}

// saved is what goes into a file; metadata nil: what the model has.
func (c *chain) saved(metadata json.RawMessage) model.Model {
	m := &model.Chain{Tags: c.Tags, Features: c.Features, Coef: c.Coef, Transitions: c.Chain.Pair, Start: c.Chain.Start,
		End: c.Chain.End, Report: c.said}
	if metadata != nil {
		m.Metadata = metadata
	}
	return m
}

// arrays lists what fewlabel_array can give.
func (c *chain) arrays() []array {
	list := []array{{name: "coef", values: c.Coef}, {name: "transitions", values: c.Chain.Pair},
		{name: "start", values: c.Chain.Start}, {name: "end", values: c.Chain.End}}
	if c.objectives != nil {
		list = append(list, array{name: "history.objective", values: c.objectives})
	}
	return list
}

// report is the text of fewlabel_report.
func (c *chain) report() (string, error) {
	text, err := json.Marshal(map[string]any{
		"n_tags": c.Tags, "n_features": c.Features, "method": c.said.Method, "n_iter": c.said.Iterations,
		"objective": finite(c.said.Objective), "gap": finite(c.gap), "termination_condition": c.said.Termination,
		"warnings": append([]warning.Warning{}, c.said.Warnings...), "metadata": c.said.Metadata,
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
		*handle = C.int64_t(handles.add(fromSequences(result, chosen.Loss)))
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
		shared, err := c.chain(C.int64_t(m.Tags), transitions, start, end)
		if err != nil {
			return err
		}
		weights, err := slice[float64](c, "coef", unsafe.Pointer(coef), int64(m.Features)*int64(m.Tags))
		if err != nil {
			return err
		}
		own := append([]float64(nil), weights...)
		numbers := &sequence.Model{Tags: m.Tags, Features: m.Features, Coef: own, Chain: shared}
		if err := numbers.Check(); err != nil {
			return err
		}
		*dst = C.int64_t(handles.add(&chain{Model: numbers, said: m.Report, gap: math.NaN()}))
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

// chain copies the scores of a chain.
func (c *call) chain(tags C.int64_t, transitions, start, end *C.const_double) (*sequence.Chain, error) {
	if tags < 1 || tags > math.MaxInt32 {
		return nil, fault.Argument("n_tags is %d: use 1 to %d", int64(tags), math.MaxInt32)
	}
	shared, err := newChain(int(tags))
	if err != nil {
		return nil, err
	}
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

// newChain takes the memory for a chain if it is there.
func newChain(tags int) (*sequence.Chain, error) {
	if err := memory.Need(24*float64(tags)*float64(tags), "a chain of so many tags", "use fewer tags"); err != nil {
		return nil, err
	}
	return sequence.NewChain(tags), nil
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
