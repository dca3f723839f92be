package model

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/fewlabel/fewlabel/engine/strictjson"
)

// A model file is: magic, version, header length, file length (these are the preamble), JSON header, arrays, checksum.
// docs/model-file.md has the offsets; a change of either changes the other.
const (
	magic        = "\x89FWL\r\n\x1a\n" // not text, and broken by whatever changes line ends
	version      = 3                   // what Save writes and Load reads
	preambleSize = 24
	checksumSize = sha256.Size
	maxHeader    = 1 << 26 // bytes: three million names of features; reading a header takes up to 30 times its bytes
	chunk        = 1 << 13 // values at a time
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

// header is all fields of the JSON header of a model; kind gets its name.
func header(m Model, kind *string, report *Report) []strictjson.Field {
	fields := append([]strictjson.Field{{Name: "kind", Value: kind}}, m.sizes()...)
	return append(fields, report.fields()...)
}
