package svmlight

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

const (
	usualBlock  = 1 << 20
	longestLine = 1 << 30   // bytes; a longer line is no svmlight file
	maxWindow   = 128 << 20 // what the zstd program allows without being asked for more
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
}

func openSource(path string) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	s := &source{path: path, blockSize: usualBlock, file: file, release: func() {}}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		s.size = info.Size()
	}
	s.buffered = bufio.NewReaderSize(readerFunc(s.fetch), 1<<16)
	if err := s.decompress(); err != nil {
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

// decompress puts the right decoder over the file, told by its first bytes. The decoders start no goroutines.
func (s *source) decompress() (err error) {
	start, err := s.buffered.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case isGzip(start):
		s.text, err = gzip.NewReader(s.buffered)
		return err
	case isZstd(start):
		decoder, err := zstd.NewReader(s.buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
		s.text, s.release = decoder, decoder.Close
		return nil
	default:
		s.text = s.buffered
		return nil
	}
}

func isGzip(start []byte) bool { return len(start) >= 2 && start[0] == 0x1f && start[1] == 0x8b }

// isZstd knows frames with data and the skippable frames that parallel compressors put first.
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
			return nil, fault.Data("%s has a line of more than %d bytes: this is not a svmlight file", s.path, longestLine)
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
		n, err := s.text.Read(buffer[len(buffer):cap(buffer)])
		buffer, s.end = buffer[:len(buffer)+n], err
	}
	return buffer
}

// share is the part of the file that has been read, from 0 to 1; 0 when the size of the file is unknown.
func (s *source) share() float64 {
	if s.size == 0 {
		return 0
	}
	return min(1, float64(s.fetched-int64(s.buffered.Buffered()))/float64(s.size))
}

// failure names the file and tells a failing disk from a damaged file.
func (s *source) failure(err error) error {
	var system *fs.PathError
	switch {
	case errors.As(err, &system):
		return unreadable(s.path, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Data("%s is cut short: the compressed data ends too early", s.path)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fault.Data("%s was compressed with a window of more than %d MiB", s.path, maxWindow>>20)
	default:
		return fault.Data("%s cannot be decompressed: %v", s.path, err)
	}
}

func unreadable(path string, err error) error {
	return fault.File("cannot read %s: %v", path, wholefile.Reason(err))
}
