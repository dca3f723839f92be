package svmlight

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/wholefile"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	window = 128 << 20 // of zstd: what its program allows without being asked for more

	// Files of data expand 2 to 11 times (20 Newsgroups, gzip and zstd); gzip can expand 1,032 times, zstd 32,768.
	usualExpansion = 100      // bytes of text that a byte of a compressed file may give
	freeText       = 64 << 20 // bytes of text that any file may give
)

// longestLine in bytes: more than ten million values. It is replaced in tests.
var longestLine = 1 << 28

var errExpansion = errors.New("more text than allowed")

type source struct {
	*bufio.Scanner // of the text
	path           string
	lines          int // so far
	job            *work.Job
	file           *os.File
	decoder        io.Reader
	end            error // why no text is left: io.EOF or a failure

	fetched, produced int64 // bytes read from the file, bytes of text
	expansion         int64 // bytes of text allowed for a byte of the file; 0: any
}

func open(path string, expansion int, job *work.Job) (s *source, err error) {
	s = &source{path: path, job: job, expansion: int64(cmp.Or(expansion, usualExpansion))}
	if s.file, err = os.Open(path); err == nil {
		err = s.decompress(bufio.NewReaderSize(readerFunc(s.fetch), 1<<16))
	}
	if err != nil {
		s.file.Close()
		return nil, s.failure(err)
	}
	s.Scanner = bufio.NewScanner(readerFunc(s.read))
	s.Buffer(make([]byte, 1<<18), longestLine)
	s.Split(s.line)
	return s, nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (s *source) fetch(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.fetched += int64(n)
	return n, err
}

// decompress puts the right decoder over the file, recognized by its first bytes.
func (s *source) decompress(file *bufio.Reader) error {
	start, err := file.Peek(10)
	if err != nil && err != io.EOF {
		return err
	}
	switch { // without goroutines
	case isGzip(start):
		s.decoder, err = gzip.NewReader(file)
	case isZstd(start):
		if err := askBytes(2*window, s.path); err != nil {
			return err
		}
		s.decoder, err = zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	case bytes.HasPrefix(start, []byte("BZh")):
		s.decoder, err = bzip2.NewReader(file), nil
	default:
		for magic, program := range otherPrograms {
			if bytes.HasPrefix(start, []byte(magic)) {
				return fault.Data("%s is compressed by %s: unpack it first", s.path, program)
			}
		}
		s.decoder, s.expansion, err = file, 0, nil
	}
	return err
}

// otherPrograms compress files that start with these bytes, which no line of data has.
var otherPrograms = map[string]string{
	"\xfd7zXZ\x00": "xz", "PK\x03\x04": "zip", "7z\xbc\xaf\x27\x1c": "7-Zip", "\x04\x22\x4d\x18": "lz4", "LZIP": "lzip",
	"\x5d\x00\x00": "lzma", "\x1f\x9d": "compress", "Rar!": "RAR",
}

func isGzip(start []byte) bool { return bytes.HasPrefix(start, []byte{0x1f, 0x8b}) }

// isZstd recognizes frames with data and the skippable frames that parallel compressors put first.
func isZstd(start []byte) bool {
	data := bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd})
	return data || len(start) >= 4 && start[0]>>4 == 5 && bytes.Equal(start[1:4], []byte{0x2a, 0x4d, 0x18})
}

// read gives text as long as the file expands to no more than is allowed.
func (s *source) read(p []byte) (n int, err error) {
	s.job.Check()
	n, s.end = s.decoder.Read(p)
	if s.produced += int64(n); s.expansion > 0 && s.produced > max(freeText, s.expansion*s.fetched) {
		s.end = errExpansion
	}
	return n, s.end
}

// line is bufio.ScanLines and counts, but the start of a line in front of a failure is no line. The room for a line
// that is longer is doubled.
func (s *source) line(text []byte, atEnd bool) (length int, line []byte, err error) {
	length, line, err = bufio.ScanLines(text, atEnd && s.end == io.EOF)
	switch {
	case line != nil:
		s.lines++
	case len(text) >= askedRoom && len(text) < longestLine && len(text)&(len(text)-1) == 0:
		err = askBytes(2*len(text), s.path)
	}
	return length, line, err
}

const askedRoom = 1 << 23 // for a line, from which on it is asked for

// failure names the file and distinguishes a failing disk from a damaged file.
func (s *source) failure(err error) error {
	var system *fs.PathError
	switch {
	case errors.As(err, new(*fault.Error)):
		return err
	case errors.As(err, &system):
		return fault.File("cannot read %s: %v", s.path, wholefile.Reason(err))
	case err == bufio.ErrTooLong:
		return fault.Data("%s, line %d: it is longer than %d bytes: this is not a svmlight file", s.path, s.lines+1,
			longestLine)
	case err == errExpansion:
		return fault.Data("%s gives more than %d times as much text as it has bytes, and more than %d MiB: if you trust it, "+
			"raise max_expansion", s.path, s.expansion, freeText>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Data("%s is truncated, or a few other bytes follow the compressed data", s.path)
	}
	return fault.Data("%s cannot be decompressed: %v", s.path, err)
}
