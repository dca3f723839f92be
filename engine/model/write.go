package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

// Save writes a model, with its own metadata (nil) or other ones, to a file, which appears whole or not at all.
func Save(path string, m Model, metadata json.RawMessage) error {
	return wholefile.Write(path, func(w io.Writer) error { return write(w, m, metadata) })
}

// write writes preamble, header, arrays and checksum.
func write(w io.Writer, m Model, metadata json.RawMessage) error {
	text, err := headerText(m, metadata)
	if err != nil {
		return err
	}
	length := uint64(preambleSize + len(text) + checksumSize)
	for _, a := range m.arrays() {
		length += 8 * uint64(a.length())
	}
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	start := append(preamble{headerLength: uint32(len(text)), fileLength: length}.bytes(), text...)
	if _, err := both.Write(start); err != nil {
		return err
	}
	for _, a := range m.arrays() {
		if err := writeValues(both, *a.values); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

func writeValues(w io.Writer, values []float64) error {
	for some := range slices.Chunk(values, chunk) {
		if err := binary.Write(w, binary.LittleEndian, some); err != nil {
			return err
		}
	}
	return nil
}

// headerText refuses what Load would.
func headerText(m Model, metadata json.RawMessage) ([]byte, error) {
	if err := Check(m); err != nil {
		return nil, fault.Defect("the model cannot be saved: %v", err)
	}
	report := *m.report()
	if metadata != nil {
		report.Metadata = metadata
	}
	if report.Metadata != nil {
		if err := strictjson.Check(report.Metadata); err != nil {
			return nil, fault.Argument("metadata cannot be kept in a model file: %v", err)
		}
	}
	kind := m.Kind()
	text, err := strictjson.Encode(header(m, &kind, &report))
	if err != nil {
		return nil, fault.Defect("the model cannot be saved: %v", err)
	}
	if err := strictjson.Check(text); err != nil {
		return nil, fault.Argument("metadata cannot be kept in the header of a model file: %v", err)
	}
	if len(text) > maxHeader {
		return nil, fault.Argument("metadata makes the header of the model file %d bytes long: at most %d are possible",
			len(text), maxHeader)
	}
	return text, nil
}
