package main

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/files"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/option"
)

type kind C.int32_t

const (
	linear     kind = C.FEWLABEL_LINEAR
	chain      kind = C.FEWLABEL_SEQUENCE
	components kind = C.FEWLABEL_STRUCTURE
	dataset    kind = 0 // a file that was read
)

var anyKind = []kind{linear, chain, components, dataset}

// modelKinds are the names of the kinds in model files.
var modelKinds = map[kind]string{linear: "linear", chain: "chain", components: "structure"}

func (k kind) String() string {
	return map[kind]string{linear: "a linear classifier", chain: "a model of sequences",
		components: "a model of components", dataset: "a data set"}[k]
}

// object is what a handle stands for: a model, with what is known of its fit, or a data set.
type object struct {
	model.Model                // nil: a data set
	data        *files.Data    // nil: a model
	facts       []option.Field // of the report, besides what a file says
	extra       []array        // directly after a fit
}

func (o *object) kind() kind {
	for k, name := range modelKinds {
		if o.Model != nil && o.Model.Kind() == name {
			return k
		}
	}
	return dataset
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
		return []array{{"indptr", list[int64](d.Indptr)}, {"indices", list[int32](d.Indices)},
			{"values", list[float64](d.Values)}, {"labels", list[float64](d.Labels)},
			{"label_indptr", list[int64](d.LabelIndptr)}}
	}
	for _, a := range o.Model.Arrays() {
		all = append(all, array{a.Name, list[float64](*a.Values)})
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
	c.giveText(c.object("handle", a.handle, anyKind...).text(), a.text, a.text_size, a.needed)
	return nil
}

func (c *call) array(a *C.array_call) error {
	o, name := c.object("handle", a.handle, anyKind...), c.text("name", a.name)
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
	return array{}, fault.Argument("name is %q: %s has %s", name, o.kind(), strings.Join(names, ", "))
}

func (c *call) assemble(a *C.assemble_call) error {
	dst, text, given := single(c, "model", a.model), c.text("description", a.description), c.given(a.arrays, a.n_arrays)
	name, known := modelKinds[kind(a.kind)]
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

// given copies the caller's named arrays.
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
	name string
	values
}

// values can be given to the caller.
type values interface {
	length() int
	give(c *call, kind int32, to unsafe.Pointer) // in their own type, or as float64
}

type list[T int32 | int64 | float64] []T

func (l list[T]) length() int { return len(l) }

// own is the type of fewlabel.h, and its name.
func (l list[T]) own() (int32, string) {
	switch any(l).(type) {
	case list[int32]:
		return C.FEWLABEL_INT32, "FEWLABEL_INT32 or "
	case list[int64]:
		return C.FEWLABEL_INT64, "FEWLABEL_INT64 or "
	}
	return C.FEWLABEL_FLOAT64, ""
}

func (l list[T]) give(c *call, kind int32, to unsafe.Pointer) {
	own, name := l.own()
	switch kind {
	case own:
		copy(slice[T](c, "values", (*T)(to), int64(len(l))), l)
	case C.FEWLABEL_FLOAT64:
		dst := slice[float64](c, "values", (*float64)(to), int64(len(l)))
		for k := range dst {
			dst[k] = float64(l[k])
		}
	default:
		check(fault.Argument("type is %d: use %sFEWLABEL_FLOAT64", kind, name))
	}
}
