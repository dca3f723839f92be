package svmlight

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const maxWindow = 128 << 20 // what the zstd program allows without being asked for more

// streams is the text of a file that holds one compressed stream after the other. The decoders could join them
// themselves, but would then take other bytes after a stream for one that was cut short.
type streams struct {
	from   *bufio.Reader
	format string
	begins func(start []byte) bool
	next   func() (io.Reader, error) // decodes the stream that begins here, to its end
	text   io.Reader                 // nil: none has begun
}

// trailing is what follows the last stream and is none.
type trailing struct {
	format string
	bytes  []byte
}

func (t *trailing) Error() string {
	return fmt.Sprintf("its %s data is complete, but %s follows", t.format, quote(t.bytes))
}

func (s *streams) Read(p []byte) (n int, err error) {
	if s.text == nil {
		s.text, err = s.next()
	}
	if err == nil {
		n, err = s.text.Read(p)
	}
	if err != io.EOF {
		return n, err
	}
	s.text = nil
	start, err := s.from.Peek(4)
	switch {
	case len(start) == 0:
		return n, err
	case !s.begins(start):
		start, _ = s.from.Peek(longestQuote + 1)
		return n, &trailing{s.format, append([]byte(nil), start...)}
	}
	return n, nil
}

// newGzip decodes without goroutines and reads no byte after the end.
func newGzip(from *bufio.Reader) io.Reader {
	decoder := &gzip.Reader{}
	return &streams{from: from, format: "gzip", begins: isGzip, next: func() (io.Reader, error) {
		err := decoder.Reset(from)
		decoder.Multistream(false)
		return decoder, err
	}}
}

// newZstd decodes without goroutines.
func newZstd(from *bufio.Reader) (text io.Reader, release func(), err error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return &streams{from: from, format: "zstd", begins: isZstd, next: func() (io.Reader, error) {
		f := &frame{from: from}
		if err := f.begin(); err != nil {
			return nil, err
		}
		return decoder, decoder.Reset(f)
	}}, decoder.Close, nil
}

// frame is one zstd frame, of which it reads the lengths only (RFC 8878, section 3.1).
type frame struct {
	from *bufio.Reader
	left int64 // bytes of the block under way
	last bool  // it is the last
	tail int64 // bytes of the checksum after the last block
}

func (f *frame) begin() error {
	start, err := f.from.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return err
	}
	var h zstd.Header
	if err := h.Decode(start); err != nil {
		return err
	}
	f.left, f.last = int64(h.HeaderSize)+int64(h.SkippableSize), h.Skippable
	if h.HasCheckSum {
		f.tail = 4
	}
	return nil
}

func (f *frame) Read(p []byte) (int, error) {
	if f.left == 0 {
		if f.last {
			return 0, io.EOF
		}
		if err := f.block(); err != nil {
			return 0, err
		}
	}
	n, err := f.from.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (f *frame) block() error {
	const runLength = 1
	start, err := f.from.Peek(3)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	header := int64(start[0]) | int64(start[1])<<8 | int64(start[2])<<16
	f.last, f.left = header&1 == 1, 3+header>>3
	if header>>1&3 == runLength {
		f.left = 3 + 1
	}
	if f.last {
		f.left += f.tail
	}
	return nil
}
