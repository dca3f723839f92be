package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

// Load reads a file that Save wrote. The file need not be trusted: nothing in it makes Load take more memory than the
// arrays it really holds.
func Load(path string) (*Linear, error) {
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

// Read reads size bytes that Write wrote.
func Read(file io.ReaderAt, size int64) (*Linear, error) {
	return (&reader{name: "the model file", file: file, size: size}).read()
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
func (r *reader) read() (*Linear, error) {
	if err := r.readPreamble(); err != nil {
		return nil, err
	}
	if err := r.compareChecksum(); err != nil {
		return nil, err
	}
	h, err := r.readHeader()
	if err != nil {
		return nil, err
	}
	m := h.model()
	if wrong := shapeMistake(m.Classes, m.Features, m.Outputs); wrong != "" {
		return nil, r.invalid(wrong)
	}
	if err := r.checkArrays(m, h); err != nil {
		return nil, err
	}
	for k, array := range m.arrays() {
		if *array.values, err = r.readArray(array, h.Arrays.entries()[k]); err != nil {
			return nil, err
		}
	}
	if wrong := m.mistake(); wrong != "" {
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
		return fault.Data("%s is cut short (or damaged): %d of %d bytes are there", r.name, r.size, r.fileLength)
	case r.fileLength < uint64(r.size):
		return r.damaged("%d bytes are there, but only %d belong to it", r.size, r.fileLength)
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

func (r *reader) readHeader() (*header, error) {
	if int64(r.headerLength) > min(r.room(), maxHeader) {
		return nil, r.invalid("its header is too long")
	}
	text := make([]byte, r.headerLength)
	if err := r.bytes(text, preambleSize); err != nil {
		return nil, err
	}
	h := &header{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, r.invalid("its header cannot be read: " + err.Error())
	}
	return h, nil
}

// checkArrays takes no memory for what cannot be there, nor for what would not fit.
func (r *reader) checkArrays(m *Linear, h *header) error {
	values := 0
	for k, array := range m.arrays() {
		if err := r.checkEntry(array, h.Arrays.entries()[k]); err != nil {
			return err
		}
		values += array.length
	}
	// The caller takes a copy of the values.
	return need(16*float64(values), fmt.Sprintf("the model of %d features and %d classes in %s", m.Features, m.Classes,
		r.name), "load it on a machine with more memory")
}

// need is replaced in tests.
var need = memory.Need

func (r *reader) checkEntry(a array, e *entry) error {
	room := r.room() - int64(r.headerLength)
	switch {
	case e.Dtype != "float64":
		return r.invalid("the array " + a.name + " is missing or not of type float64")
	case e.Length != a.length:
		return r.invalid("the array " + a.name + " does not have the length that the shapes ask for")
	case e.Bytes < 0 || e.Offset < 0 || e.Bytes > room || e.Offset > room-e.Bytes:
		return r.invalid("the array " + a.name + " is not inside the file")
	case !canHold(e.Bytes, e.Length):
		return r.undecodable(a, errTooFew)
	}
	return nil
}

func (r *reader) undecodable(a array, err error) error {
	return r.invalid("the array " + a.name + " cannot be decompressed: " + err.Error())
}

func (r *reader) readArray(a array, e *entry) ([]float64, error) {
	start := preambleSize + int64(r.headerLength) + e.Offset
	values, err := decompress(io.NewSectionReader(r.file, start, e.Bytes), a.length)
	var system *fs.PathError
	switch {
	case errors.As(err, &system):
		return nil, r.failure(err)
	case err != nil:
		return nil, r.undecodable(a, err)
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
	if err == io.EOF {
		return r.cutShort() // while it was read
	}
	return unreadable(r.name, err)
}

func (r *reader) cutShort() error {
	return fault.Data("%s is cut short: only %d bytes are there", r.name, r.size)
}

func (r *reader) damaged(format string, a ...any) error {
	return fault.Data("%s is damaged: "+format, append([]any{r.name}, a...)...)
}

// invalid is for a file with the right checksum that fewlabel cannot have written.
func (r *reader) invalid(what string) error {
	return fault.Data("%s is not a valid model file: %s", r.name, what)
}
