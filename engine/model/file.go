package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/fewlabel/fewlabel/engine/warning"
)

// A model file is: magic, version, header length, file length (these are the preamble), JSON header, arrays, checksum.
// docs/model-file.md has the offsets; a change of either changes the other.
const (
	magic        = "\x89FWL\r\n\x1a\n" // not text, and broken by whatever changes line ends
	version      = 2                   // what Save writes and Load reads
	preambleSize = 24
	checksumSize = sha256.Size
	maxHeader    = 1 << 28 // bytes
)

// preamble is the fixed start of a file.
type preamble struct {
	headerLength uint32
	fileLength   uint64
}

func (p preamble) bytes() []byte {
	b := append(make([]byte, 0, preambleSize), magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, p.headerLength)
	return binary.LittleEndian.AppendUint64(b, p.fileLength)
}

// header is what the JSON header says; the names are those of fewlabel_report in fewlabel.h.
type header struct {
	Classes     int               `json:"n_classes"`
	Features    int               `json:"n_features"`
	Outputs     int               `json:"n_outputs"`
	Method      string            `json:"method"`
	Iterations  int               `json:"n_iter"`
	Objective   *float64          `json:"objective"` // null where the method has none
	Termination string            `json:"termination_condition"`
	Warnings    []warning.Warning `json:"warnings"`
	Metadata    json.RawMessage   `json:"metadata"`
	Arrays      table             `json:"arrays"`
}

// table has a field for each array and is no map, so that decoding a header of a few bytes cannot make millions of
// entries.
type table struct {
	Coef       entry `json:"coef"`
	Intercept  entry `json:"intercept"`
	ClassPrior entry `json:"class_prior"`
}

// entries are in the order of Linear.arrays.
func (t *table) entries() []*entry { return []*entry{&t.Coef, &t.Intercept, &t.ClassPrior} }

// entry says where a compressed array is.
type entry struct {
	Dtype  string `json:"dtype"`
	Length int    `json:"length"` // values
	Offset int64  `json:"offset"` // in bytes from the end of the header
	Bytes  int64  `json:"bytes"`  // compressed
}

func (m *Linear) header() header {
	h := header{
		Classes: m.Classes, Features: m.Features, Outputs: m.Outputs, Method: m.Method, Iterations: m.Iterations,
		Termination: m.Termination, Warnings: m.Warnings, Metadata: m.Metadata,
	}
	if h.Warnings == nil {
		h.Warnings = []warning.Warning{}
	}
	if !math.IsNaN(m.Objective) && !math.IsInf(m.Objective, 0) {
		h.Objective = &m.Objective
	}
	return h
}

// model is a model without its arrays.
func (h *header) model() *Linear {
	m := &Linear{
		Classes: h.Classes, Features: h.Features, Outputs: h.Outputs, Method: h.Method, Iterations: h.Iterations,
		Objective: math.NaN(), Termination: h.Termination,
	}
	if h.Objective != nil {
		m.Objective = *h.Objective
	}
	if len(h.Warnings) > 0 {
		m.Warnings = h.Warnings
	}
	if string(h.Metadata) != "null" {
		m.Metadata = h.Metadata
	}
	return m
}
