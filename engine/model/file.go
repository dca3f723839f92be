package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/files"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/option"
)

// A model file is a safetensors file (github.com/huggingface/safetensors): the length of the header (uint64), a JSON
// header, and the values of the tensors, all little-endian. Its tensors are the arrays of a model; its metadata has the
// kind, the Description and a checksum of the values.
const (
	metadataName = "__metadata__"
	lengthSize   = 8
	maxHeader    = 100_000_000 // bytes, the limit of the format: four million names of features
	chunk        = 1 << 13     // values at a time
)

// Save writes a model, with its own metadata (nil) or other ones, to a file, which appears whole or not at all.
func Save(path string, m Model, metadata json.RawMessage) error {
	return files.Write(path, func(w io.Writer) error { return write(w, m, metadata) })
}

func write(w io.Writer, m Model, metadata json.RawMessage) error {
	if err := Check(m); err != nil {
		return fault.Defect("the model cannot be saved: %v", err)
	}
	arrays := m.Layout().Arrays
	slices.SortFunc(arrays, func(a, b Array) int { return cmp.Compare(a.Name, b.Name) }) // as others write them
	header, err := headerText(m, arrays, metadata)
	if err != nil {
		return err
	}
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	_, err = w.Write(append(start, header...))
	return cmp.Or(err, writeValues(w, arrays))
}

func headerText(m Model, arrays []Array, metadata json.RawMessage) ([]byte, error) {
	description, err := descriptionText(m, metadata)
	if err != nil {
		return nil, err
	}
	sum, end, entries := sha256.New(), 0, map[string]any{}
	_ = writeValues(sum, arrays) // a hash has no errors
	entries[metadataName] = map[string]string{
		"kind": m.Layout().Kind, "description": string(description), "sha256": fmt.Sprintf("%x", sum.Sum(nil)),
	}
	for _, a := range arrays {
		first := end
		end += 8 * a.length()
		entries[a.Name] = map[string]any{"dtype": "F64", "shape": a.shape, "data_offsets": []int{first, end}}
	}
	text, err := json.Marshal(entries)
	for len(text)%8 != 0 {
		text = append(text, ' ') // so that the values lie at multiples of their size
	}
	if len(text) > maxHeader {
		return nil, fault.Argument("metadata makes the header of the model file %d bytes long: at most %d are possible",
			len(text), maxHeader)
	}
	return text, err
}

// descriptionText refuses what Load would.
func descriptionText(m Model, metadata json.RawMessage) ([]byte, error) {
	report := *m.report()
	if metadata != nil {
		report.Metadata = metadata
	}
	if err := option.CheckJSON(report.Metadata); report.Metadata != nil && err != nil {
		return nil, fault.Argument("metadata cannot be kept in a model file: %v", err)
	}
	text := option.Encode(append(m.Layout().sizes, report.fields()...))
	if err := option.CheckJSON(text); err != nil {
		return nil, fault.Argument("metadata cannot be kept in the description of a model: %v", err)
	}
	return text, nil
}

func writeValues(w io.Writer, arrays []Array) error {
	for _, a := range arrays {
		for values := range slices.Chunk(*a.Values, chunk) {
			if err := binary.Write(w, binary.LittleEndian, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// Load reads a file that need not be trusted: it takes no more memory than in proportion to the file's length.
func Load(path string) (Model, error) {
	file, size, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	bytes := 3 * float64(size) // the file, its values, and the caller's copy of them
	if err := memory.Need(bytes, "the model in "+path, "load it on a machine with more memory"); err != nil {
		return nil, err
	}
	m, err := read(file, size)
	if errors.As(err, new(*fs.PathError)) {
		return nil, fault.File("cannot read %s: %v", path, files.Reason(err))
	}
	if err != nil {
		return nil, fault.Data("%s is not a valid model file: %v", path, err)
	}
	return m, nil
}

// read looks at the names of the tensors, then at the tensors, then at the values: what is none costs little.
func read(file io.Reader, size int64) (Model, error) {
	if size < lengthSize {
		return nil, fmt.Errorf("it has only %d bytes", size)
	}
	start, err := next(file, lengthSize)
	if err != nil {
		return nil, err
	}
	length, rest := binary.LittleEndian.Uint64(start), size-lengthSize
	if length > uint64(min(rest, maxHeader)) {
		return nil, fmt.Errorf("it is cut short or of another format: its header would have %d bytes", length)
	}
	text, err := next(file, int64(length))
	if err != nil {
		return nil, err
	}
	h, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("its header cannot be read: %w", err)
	}
	given := slices.Sorted(maps.Keys(h.entries))
	if err := knows(h.kind, given); err != nil {
		return nil, err
	}
	tensors := map[string]tensor{}
	for _, name := range given {
		if tensors[name], err = parseTensor(h.entries[name]); err != nil {
			return nil, fmt.Errorf("its header cannot be read: the tensor %.40q: %w", name, err)
		}
	}
	names, err := inOrder(tensors, rest-int64(length))
	if err != nil {
		return nil, err
	}
	data, err := next(file, rest-int64(length))
	if err != nil {
		return nil, err
	}
	if h.sum != fmt.Sprintf("%x", sha256.Sum256(data)) {
		return nil, errors.New("the checksum does not match the values")
	}
	arrays := map[string][]float64{}
	for _, name := range names {
		from, to := tensors[name].offsets[0], tensors[name].offsets[1]
		arrays[name] = make([]float64, (to-from)/8)
		_, _ = binary.Decode(data[from:to], binary.LittleEndian, arrays[name]) // lengths that fit have no errors
	}
	m, err := Assemble(h.kind, []byte(h.description), arrays)
	if err != nil {
		return nil, err
	}
	for _, a := range m.Layout().Arrays {
		if t, there := tensors[a.Name]; there && !slices.Equal(t.shape, a.shape) {
			return nil, fmt.Errorf("%s has the shape %v and should have %v", a.Name, t.shape, a.shape)
		}
	}
	return m, nil
}

func next(file io.Reader, length int64) ([]byte, error) {
	bytes := make([]byte, length)
	_, err := io.ReadFull(file, bytes)
	return bytes, err
}

// header is the metadata, and the entries of the tensors by name.
type header struct {
	kind, description, sum string
	entries                map[string]json.RawMessage
}

// tensor is an entry of the header: a shape, and where the values begin and end.
type tensor struct{ shape, offsets []int }

func parse(text []byte) (h header, err error) {
	h.entries, err = option.Object(text)
	switch {
	case err != nil:
		return h, err
	case text[0] != '{':
		return h, errors.New("it does not begin with {")
	}
	if err = option.Decode(h.entries[metadataName], []option.Field{{Name: "kind", Value: &h.kind},
		{Name: "description", Value: &h.description}, {Name: "sha256", Value: &h.sum}}); err != nil {
		return h, fmt.Errorf("%s: %w", metadataName, err)
	}
	delete(h.entries, metadataName)
	return h, nil
}

func parseTensor(text []byte) (t tensor, err error) {
	if bytes.Count(text, []byte(",")) > 4 {
		return t, errors.New("it has more than a dtype, a shape of two sizes and two data_offsets")
	}
	var dtype string
	err = option.Decode(text, []option.Field{{Name: "dtype", Value: &dtype},
		{Name: "shape", Value: &t.shape}, {Name: "data_offsets", Value: &t.offsets}})
	switch {
	case err != nil:
		return t, err
	case dtype != "F64":
		return t, fmt.Errorf("its dtype is %.40q, not F64", dtype)
	case len(t.offsets) != 2:
		return t, errors.New("its data_offsets are not two numbers")
	case bytes.Contains(text, []byte("null")) || bytes.Contains(text, []byte("-0")): // encoding/json takes both for 0
		return t, errors.New("its shape or data_offsets are no whole numbers")
	}
	return t, nil
}

// inOrder are the names of the tensors by their places. It refuses gaps, overlaps and what the data do not have.
func inOrder(tensors map[string]tensor, size int64) ([]string, error) {
	end := 0
	names := slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		return cmp.Or(slices.Compare(tensors[a].offsets, tensors[b].offsets), cmp.Compare(a, b))
	})
	for _, name := range names {
		from, to := tensors[name].offsets[0], tensors[name].offsets[1]
		if from != end || to < from || int64(to) > size || (to-from)%8 != 0 {
			return nil, fmt.Errorf("the tensor %.40q has the bytes %d to %d: from %d, a multiple of 8 up to %d is possible",
				name, from, to, end, size)
		}
		end = to
	}
	if int64(end) != size {
		return nil, fmt.Errorf("its tensors have %d bytes, and there are %d", end, size)
	}
	return names, nil
}
