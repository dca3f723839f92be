package svmlight

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/wholefile"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	usualBlock = 1 << 20
	maxWindow  = 128 << 20 // what the zstd program allows without being asked for more
)

// longestLine in bytes: more than ten million values. It is replaced in tests.
var longestLine = 1 << 28

// A compressed file may give so many bytes of text from each byte, or freeText if that is more. Files of data expand
// 2 to 11 times (measured on 20 Newsgroups, plain, gzip and zstd), and gzip up to 1,032 times, zstd 32,768.
const (
	usualExpansion = 100
	freeText       = 64 << 20
)

var (
	errLongLine  = errors.New("a line without end")
	errExpansion = errors.New("more text than allowed")
)

// source gives the text of a file in blocks of whole lines, whatever it is compressed with.
type source struct {
	path      string
	blockSize int
	text      io.Reader
	rest      []byte // the start of a line whose end has not been read
	end       error  // why no text is left: io.EOF or a failure

	file     *os.File
	buffered *bufio.Reader
	size     int64 // of the file in bytes; 0: unknown
	fetched  int64 // bytes read from the file
	release  func()

	job       *work.Job
	produced  int64 // bytes of text so far
	expansion int64 // bytes of text allowed for a byte of the file; 0: any
}

func openSource(path string, o ReadOptions, job *work.Job) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	s := &source{path: path, blockSize: usualBlock, file: file, release: func() {}, job: job}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		s.size = info.Size()
	}
	s.buffered = bufio.NewReaderSize(readerFunc(s.fetch), 1<<16)
	if err := s.decompress(int64(o.MaxExpansion)); err != nil {
		s.close()
		return nil, s.failure(err)
	}
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
func (s *source) decompress(expansion int64) (err error) {
	start, err := s.buffered.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	s.expansion = cmp.Or(expansion, usualExpansion)
	switch {
	case isGzip(start):
		s.text, err = gzip.NewReader(s.buffered)
	case isZstd(start): // without goroutines
		var decoder *zstd.Decoder
		decoder, err = zstd.NewReader(s.buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			s.text, s.release = decoder, decoder.Close
		}
	default:
		s.text, s.expansion, err = s.buffered, 0, nil
	}
	return err
}

func isGzip(start []byte) bool { return len(start) >= 2 && start[0] == 0x1f && start[1] == 0x8b }

// isZstd recognizes frames with data and the skippable frames that parallel compressors put first.
func isZstd(start []byte) bool {
	if len(start) < 4 {
		return false
	}
	data := bytes.Equal(start, []byte{0x28, 0xb5, 0x2f, 0xfd})
	skippable := start[0]>>4 == 5 && bytes.Equal(start[1:], []byte{0x2a, 0x4d, 0x18})
	return data || skippable
}

func (s *source) close() {
	s.release()
	s.file.Close()
}

// block gives the next whole lines in buffer, which may move; io.EOF after the last. A failure comes after all whole
// lines in front of it, so that what is found first does not depend on where blocks end.
func (s *source) block(buffer []byte) ([]byte, error) {
	buffer = append(buffer[:0], s.rest...)
	s.rest = s.rest[:0]
	for searched := 0; s.end == nil; {
		if len(buffer) > longestLine {
			return nil, errLongLine
		}
		buffer = s.fill(slices.Grow(buffer, s.blockSize))
		if cut := searched + bytes.LastIndexByte(buffer[searched:], '\n') + 1; cut > searched {
			s.rest = append(s.rest, buffer[cut:]...)
			return buffer[:cut], nil
		}
		searched = len(buffer)
	}
	if s.end != io.EOF {
		return nil, s.failure(s.end)
	}
	if len(buffer) == 0 {
		return nil, io.EOF
	}
	return buffer, nil
}

// fill reads text until the buffer is full or no text is left. Only io.EOF is a good end: io.ErrUnexpectedEOF, which
// io.ReadFull would mix up with it, is how the decoders report a file that was cut short.
func (s *source) fill(buffer []byte) []byte {
	for len(buffer) < cap(buffer) && s.end == nil {
		s.job.Check()
		n, err := s.text.Read(buffer[len(buffer):cap(buffer)])
		buffer, s.end = buffer[:len(buffer)+n], err
		if s.produced += int64(n); s.expansion > 0 && s.produced > max(freeText, s.expansion*s.consumed()) {
			s.end = errExpansion
		}
	}
	return buffer
}

// consumed is the bytes of the file that the text so far was made of.
func (s *source) consumed() int64 { return s.fetched - int64(s.buffered.Buffered()) }

// share is the part of the file that has been read, from 0 to 1; 0 when the size of the file is unknown.
func (s *source) share() float64 {
	if s.size == 0 {
		return 0
	}
	return min(1, float64(s.consumed())/float64(s.size))
}

// failure names the file and distinguishes a failing disk from a damaged file.
func (s *source) failure(err error) error {
	var system *fs.PathError
	switch {
	case errors.As(err, &system):
		return unreadable(s.path, err)
	case err == errExpansion:
		return fault.Data("%s gives more than %d times as much text as it has bytes, and more than %d MiB: if you trust it, "+
			"raise max_expansion", s.path, s.expansion, freeText>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Data("%s is truncated, or a few other bytes follow the compressed data", s.path)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fault.Data("%s was compressed with a window of more than %d MiB", s.path, maxWindow>>20)
	default:
		return fault.Data("%s cannot be decompressed: %v", s.path, err)
	}
}

func unreadable(path string, err error) error {
	return fault.File("cannot read %s: %v", path, wholefile.Reason(err))
}
