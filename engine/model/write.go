package model

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

// Save writes a model to a file, which appears whole or not at all.
func Save(path string, m Model) error {
	return wholefile.Write(path, func(w io.Writer) error { return Write(w, m) })
}

// Write writes what Save puts into a file: preamble, header, arrays and checksum.
func Write(w io.Writer, m Model) error {
	text, err := headerText(m)
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
func headerText(m Model) ([]byte, error) {
	if err := Check(m); err != nil {
		return nil, fault.Defect("the model cannot be saved: %v", err)
	}
	if metadata := m.report().Metadata; metadata != nil {
		if err := strictjson.Check(metadata); err != nil {
			return nil, fault.Argument("metadata cannot be kept in a model file: %v", err)
		}
	}
	kind := m.Kind()
	text, err := strictjson.Encode(header(m, &kind))
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
