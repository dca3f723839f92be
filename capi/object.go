package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/files"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/option"
)

// Kinds of objects: those of models as in files, and a file that was read.
const linear, chain, components, dataset = "linear", "chain", "structure", "data"

var modelKinds = map[C.int32_t]string{C.FEWLABEL_LINEAR: linear, C.FEWLABEL_SEQUENCE: chain,
	C.FEWLABEL_STRUCTURE: components}

var inMessages = map[string]string{linear: "a linear classifier", chain: "a model of sequences",
	components: "a model of components", dataset: "a data set"}

// object is what a handle stands for: a model, with what is known of its fit, or a data set.
type object struct {
	model.Model                // nil: a data set
	data        *files.Data    // nil: a model
	facts       []option.Field // of the report, besides what a file says
	extra       []array        // directly after a fit
}

func (o *object) kind() string {
	if o.Model == nil {
		return dataset
	}
	return o.Model.Layout().Kind
}

// fromModel makes an object of a model that comes from a file or from arrays.
func fromModel(m model.Model) *object {
	if m, ok := m.(*model.Linear); ok {
		return fromLinear(m, nil)
	}
	return &object{Model: m}
}

func (o *object) arrays() (all []array) {
	if d := o.data; d != nil {
		return []array{{"indptr", d.Indptr}, {"indices", d.Indices}, {"values", d.Values}, {"labels", d.Labels},
			{"label_indptr", d.LabelIndptr}}
	}
	for _, a := range o.Model.Layout().Arrays {
		all = append(all, array{a.Name, *a.Values})
	}
	return append(all, o.extra...)
}

// text is that of fewlabel_report.
func (o *object) text() string {
	var fields []option.Field
	if o.Model != nil {
		fields = model.Description(o.Model)
	}
	lengths := map[string]int{}
	for _, a := range o.arrays() {
		lengths[a.name] = a.length()
	}
	return string(option.Encode(slices.Concat(fields, o.facts, []option.Field{{Name: "arrays", Value: lengths}})))
}

func (c *call) report(a *C.report_call) error {
	c.giveText(c.object("handle", a.handle).text(), a.text, a.text_size, a.needed)
	return nil
}

func (c *call) array(a *C.array_call) error {
	o, name := c.object("handle", a.handle), c.text("name", a.name)
	source, err := o.arrayNamed(name)
	check(err)
	if int64(a.length) != int64(source.length()) {
		return fault.Argument("length is %d: %q has %d values", int64(a.length), name, source.length())
	}
	source.give(c, int32(a._type), a.values)
	return nil
}

func (o *object) arrayNamed(name string) (array, error) {
	var names []string
	for _, a := range o.arrays() {
		if a.name == name {
			return a, nil
		}
		names = append(names, a.name)
	}
	return array{}, fault.Argument("name is %q: %s has %s", name, inMessages[o.kind()], strings.Join(names, ", "))
}

func (c *call) assemble(a *C.assemble_call) error {
	dst, text, given := single(c, "model", a.model), c.text("description", a.description), c.given(a.arrays, a.n_arrays)
	name, known := modelKinds[a.kind]
	if !known {
		return noKind(a.kind)
	}
	assembled, err := model.Assemble(name, []byte(text), given)
	check(err)
	*dst = C.int64_t(handles.add(fromModel(assembled)))
	return nil
}

func noKind(kind C.int32_t) error {
	return fault.Argument("kind is %d: use FEWLABEL_LINEAR, FEWLABEL_SEQUENCE or FEWLABEL_STRUCTURE", int32(kind))
}

func (c *call) given(arrays *C.fewlabel_named, count C.int64_t) map[string][]float64 {
	if count < 0 || count > 100 { // more than any kind has
		check(fault.Argument("n_arrays is %d", int64(count)))
	}
	all := map[string][]float64{}
	for k, a := range slice[C.fewlabel_named](c, "arrays", arrays, int64(count)) {
		name := c.text(fmt.Sprintf("arrays[%d].name", k), a.name)
		values := slice[float64](c, name, a.values, int64(a.length))
		if _, before := all[name]; before {
			check(fault.Argument("arrays[%d].name is %q, as of an array before", k, name))
		}
		check(memory.Need(8*float64(len(values)), "a copy of "+name, "use a machine with more memory"))
		all[name] = slices.Clone(values)
	}
	return all
}

func (c *call) save(a *C.save_call) error {
	o, file := c.object("model", a.model, linear, chain, components), c.text("path", a.path)
	var metadata json.RawMessage
	if a.metadata != nil {
		metadata = json.RawMessage(c.text("metadata", a.metadata))
	}
	return model.Save(file, o.Model, metadata)
}

func (c *call) load(a *C.load_call) error {
	dst := single(c, "model", a.model)
	loaded, err := model.Load(c.text("path", a.path))
	check(err)
	*dst = C.int64_t(handles.add(fromModel(loaded)))
	return nil
}

func (c *call) svmlightRead(a *C.svmlight_read_call) error {
	dst, file := single(c, "data", a.data), c.text("path", a.path)
	sizes := slice[int64](c, "sizes", a.sizes, 4)
	options := files.ReadOptions{ZeroBased: c.flag("zero_based", a.zero_based),
		LabelsPath: c.optionalText("labels_path", a.labels_path), Features: int(a.n_features),
		MaxExpansion: int(a.max_expansion), Progress: c.progress(a.progress)}
	read, err := files.ReadRows(file, options)
	check(err)
	copy(sizes, []int64{int64(read.Rows), int64(read.Features), int64(len(read.Values)), int64(len(read.Labels))})
	*dst = C.int64_t(handles.add(&object{data: read}))
	return nil
}

func (c *call) svmlightWrite(a *C.svmlight_write_call) error {
	file, fromZero, matrix := c.text("path", a.path), c.flag("zero_based", a.zero_based), c.matrix("rows", a.rows)
	targets := slice[float64](c, "labels", a.labels, int64(matrix.Rows()))
	return files.WriteRows(file, matrix, targets, fromZero)
}

type array struct {
	name   string
	values any // []int32, []int64 or []float64
}

func (a array) length() int { return reflect.ValueOf(a.values).Len() }

// give copies the values to the caller, in their own type or as float64.
func (a array) give(c *call, kind int32, to unsafe.Pointer) {
	switch values := a.values.(type) {
	case []int32:
		give(c, values, C.FEWLABEL_INT32, "FEWLABEL_INT32 or ", kind, to)
	case []int64:
		give(c, values, C.FEWLABEL_INT64, "FEWLABEL_INT64 or ", kind, to)
	case []float64:
		give(c, values, C.FEWLABEL_FLOAT64, "", kind, to)
	}
}

func give[T int32 | int64 | float64](c *call, values []T, own int32, name string, kind int32, to unsafe.Pointer) {
	switch kind {
	case own:
		copy(slice[T](c, "values", (*T)(to), int64(len(values))), values)
	case C.FEWLABEL_FLOAT64:
		dst := slice[float64](c, "values", (*float64)(to), int64(len(values)))
		for k, value := range values {
			dst[k] = float64(value)
		}
	default:
		check(fault.Argument("type is %d: use %sFEWLABEL_FLOAT64", kind, name))
	}
}
