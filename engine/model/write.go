package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

// Save writes the model to a file, which appears whole or not at all.
func (m *Linear) Save(path string) error {
	file, err := m.encode()
	if err != nil {
		return err
	}
	return wholefile.Write(path, file.write)
}

// Write writes what Save puts into a file.
func (m *Linear) Write(w io.Writer) error {
	file, err := m.encode()
	if err != nil {
		return err
	}
	return file.write(w)
}

// encoded is a file in pieces: preamble, header, arrays. The checksum is added as it is written.
type encoded [][]byte

func (m *Linear) encode() (encoded, error) {
	if wrong := m.mistake(); wrong != "" {
		return nil, fault.Defect("the model cannot be saved: %s", wrong)
	}
	if m.Metadata != nil && !json.Valid(m.Metadata) {
		return nil, fault.Argument("metadata is not valid JSON")
	}
	var data bytes.Buffer
	h := m.header()
	for k, array := range m.arrays() {
		start := data.Len()
		if err := compress(&data, *array.values); err != nil {
			return nil, fault.Defect("compressing %s: %v", array.name, err)
		}
		*h.Arrays.entries()[k] = entry{
			Dtype: "float64", Length: array.length, Offset: int64(start), Bytes: int64(data.Len() - start),
		}
	}
	text, err := headerText(&h)
	if err != nil {
		return nil, err
	}
	length := preambleSize + len(text) + data.Len() + checksumSize
	p := preamble{headerLength: uint32(len(text)), fileLength: uint64(length)}
	return encoded{p.bytes(), text, data.Bytes()}, nil
}

func headerText(h *header) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // metadata stays as it was given
	if err := encoder.Encode(h); err != nil {
		return nil, fault.Defect("the model cannot be saved: %v", err)
	}
	if text.Len() > maxHeader {
		return nil, fault.Argument("metadata makes the header of the model file %d bytes long: at most %d are possible",
			text.Len(), maxHeader)
	}
	return text.Bytes(), nil
}

func (e encoded) write(w io.Writer) error {
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	for _, part := range e {
		if _, err := both.Write(part); err != nil {
			return err
		}
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}
