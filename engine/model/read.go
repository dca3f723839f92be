package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

// Load reads a file that Save wrote. The file need not be trusted: nothing in it makes Load take more memory than the
// arrays it really holds.
func Load(path string) (Model, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case !info.Mode().IsRegular():
		return nil, unreadable(path, errors.New("it is not a regular file"))
	}
	return (&reader{name: path, file: file, size: info.Size()}).read()
}

func unreadable(path string, err error) error {
	return fault.File("cannot read %s: %v", path, wholefile.Reason(err))
}

// reader is one model file on its way into memory.
type reader struct {
	name string
	file io.ReaderAt
	size int64
	preamble
}

// read tests magic, version and checksum, in this order, before it believes anything else.
func (r *reader) read() (Model, error) {
	if err := r.readPreamble(); err != nil {
		return nil, err
	}
	if err := r.compareChecksum(); err != nil {
		return nil, err
	}
	m, err := r.readHeader()
	if err != nil {
		return nil, err
	}
	if err := r.checkLength(m); err != nil {
		return nil, err
	}
	at := preambleSize + int64(r.headerLength)
	for _, a := range m.arrays() {
		if *a.values, err = r.readValues(a.length(), at); err != nil {
			return nil, err
		}
		if wrong := a.valueMistake(); wrong != "" {
			return nil, r.invalid(wrong)
		}
		at += 8 * int64(a.length())
	}
	if wrong := m.contentMistake(); wrong != "" {
		return nil, r.invalid(wrong)
	}
	return m, nil
}

func (r *reader) readPreamble() error {
	start := make([]byte, min(r.size, preambleSize))
	if err := r.bytes(start, 0); err != nil {
		return err
	}
	known := min(len(start), len(magic))
	if known == 0 || string(start[:known]) != magic[:known] {
		return fault.Data("%s is not a fewlabel model", r.name)
	}
	if len(start) < 12 {
		return r.cutShort()
	}
	if written := binary.LittleEndian.Uint32(start[8:]); written > version {
		return fault.Data("%s was written by a later version of fewlabel: its file version is %d, this one reads %d. "+
			"Install a newer fewlabel to read it", r.name, written, version)
	} else if written < version {
		return fault.Data("%s has the file version %d, which no release of fewlabel wrote", r.name, written)
	}
	if r.size < preambleSize+checksumSize {
		return r.cutShort()
	}
	r.headerLength = binary.LittleEndian.Uint32(start[12:])
	r.fileLength = binary.LittleEndian.Uint64(start[16:])
	switch {
	case r.fileLength > uint64(r.size):
		return fault.Data("%s is truncated or damaged: it has %d of %d bytes", r.name, r.size, r.fileLength)
	case r.fileLength < uint64(r.size):
		return r.damaged("it has %d bytes, but only %d belong to it", r.size, r.fileLength)
	}
	return nil
}

func (r *reader) compareChecksum() error {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r.file, 0, r.size-checksumSize)); err != nil {
		return r.failure(err)
	}
	var written [checksumSize]byte
	if err := r.bytes(written[:], r.size-checksumSize); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), written[:]) {
		return r.damaged("its checksum does not match its content")
	}
	return nil
}

// room is the number of bytes between preamble and checksum.
func (r *reader) room() int64 { return r.size - preambleSize - checksumSize }

// readHeader gives a model without its arrays.
func (r *reader) readHeader() (Model, error) {
	if int64(r.headerLength) > min(r.room(), maxHeader) {
		return nil, r.invalid("its header is too long")
	}
	text := make([]byte, r.headerLength)
	if err := r.bytes(text, preambleSize); err != nil {
		return nil, err
	}
	members, err := strictjson.Object(text)
	if err != nil {
		return nil, r.invalid("its header cannot be read: " + err.Error())
	}
	m, err := r.empty(members)
	if err != nil {
		return nil, err
	}
	kind := ""
	if err := strictjson.Take(members, header(m, &kind, m.report())); err != nil {
		return nil, r.invalid("its header cannot be read: " + err.Error())
	}
	if wrong := shapeMistake(m); wrong != "" {
		return nil, r.invalid(wrong)
	}
	return m, nil
}

// empty is a model of the kind that the header names.
func (r *reader) empty(members []strictjson.Member) (Model, error) {
	for _, member := range members {
		kind := ""
		if member.Name != "kind" || json.Unmarshal(member.Value, &kind) != nil {
			continue
		}
		if empty, known := kinds[kind]; known {
			return empty(), nil
		}
		return nil, r.invalid(fmt.Sprintf("it holds a model of the unknown kind %.40q", kind))
	}
	return nil, r.invalid("it does not say which kind of model it holds")
}

// checkLength takes no memory for what is not there, nor for what would not fit.
func (r *reader) checkLength(m Model) error {
	values := int64(0)
	for _, a := range m.arrays() {
		values += int64(a.length())
	}
	if room := r.room() - int64(r.headerLength); room != 8*values {
		return r.invalid(fmt.Sprintf("its arrays have %d bytes, and its sizes ask for %d", room, 8*values))
	}
	return need(16*float64(values), "the model in "+r.name, // the caller takes a copy of the values
		"load it on a machine with more memory")
}

// need is replaced in tests.
var need = memory.Need

func (r *reader) readValues(length int, at int64) ([]float64, error) {
	values, from := make([]float64, length), io.NewSectionReader(r.file, at, 8*int64(length))
	for some := range slices.Chunk(values, chunk) {
		if err := binary.Read(from, binary.LittleEndian, some); err != nil {
			return nil, r.failure(err)
		}
	}
	return values, nil
}

func (r *reader) bytes(dst []byte, at int64) error {
	if n, err := r.file.ReadAt(dst, at); n < len(dst) {
		return r.failure(err)
	}
	return nil
}

func (r *reader) failure(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return r.cutShort() // while it was read
	}
	return unreadable(r.name, err)
}

func (r *reader) cutShort() error {
	return fault.Data("%s is truncated: it has only %d bytes", r.name, r.size)
}

func (r *reader) damaged(format string, a ...any) error {
	return fault.Data("%s is damaged: "+format, append([]any{r.name}, a...)...)
}

// invalid is for a file with the right checksum that fewlabel cannot have written.
func (r *reader) invalid(what string) error {
	return fault.Data("%s is not a valid model file: %s", r.name, what)
}
