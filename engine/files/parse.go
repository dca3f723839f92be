package files

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/work"
)

// parser turns lines into arrays. Its methods row and labelsAlone read a line and return what is wrong with it.
type parser struct {
	Data
	job        *work.Job
	withLabels bool // each row starts with its labels
	base, end  int  // numbers of the first feature and behind the largest that is allowed
	asked      int  // bytes of the arrays, so far
}

func readFile(path string, o ReadOptions, job *work.Job, parse func(*parser, []byte) error) (*Data, error) {
	file, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text := &source{path: path, number: 1, job: job, file: file,
		expansion: int64(cmp.Or(o.MaxExpansion, usualExpansion))}
	if err := text.decompress(bufio.NewReaderSize(file, 1<<16)); err != nil {
		return nil, text.failure(err)
	}
	text.Scanner = bufio.NewScanner(text)
	text.Buffer(make([]byte, 1<<18), longestLine)
	text.Split(text.line)
	base := firstFeature(o.ZeroBased)
	p := &parser{Data: Data{Features: o.Features, Indptr: []int64{0}, LabelIndptr: []int64{0}}, job: job,
		withLabels: o.LabelsPath == "", base: base, end: base + cmp.Or(o.Features, math.MaxInt32)}
	for ; text.Scan(); text.number++ {
		if err := p.ask(text.Bytes(), path); err != nil {
			return nil, err
		}
		if wrong := parse(p, text.Bytes()); wrong != nil {
			return nil, fault.Data("%s, line %d: %v", path, text.number, wrong)
		}
	}
	if err := text.Err(); err != nil {
		return nil, text.failure(err)
	}
	return &p.Data, nil
}

func firstFeature(zeroBased bool) int {
	if zeroBased {
		return 0
	}
	return 1
}

// ask asks for memory for the arrays that take the place of those that are full after a line.
func (p *parser) ask(line []byte, path string) error {
	values, labels := len(p.Values)+bytes.Count(line, []byte(":")), len(p.Labels)+1+bytes.Count(line, []byte(","))
	held := 12*values + 8*labels + 16*(1+len(p.Indptr))
	if held <= p.asked {
		return nil
	}
	p.asked = held + max(held/4, 1<<12)
	return askBytes(p.asked, path)
}

func askBytes(bytes int, path string) error {
	const garbage = 1.25
	return memory.Need(garbage*float64(bytes), "reading "+path, "read the file in parts, or on a machine with more memory")
}

// row reads a row. In SVMlin's form an empty line is a row without features.
func (p *parser) row(line []byte) (wrong error) {
	line, _, commented := bytes.Cut(line, []byte("#"))
	words := 0
	for word := range bytes.FieldsSeq(line) {
		p.job.Check()
		words++
		read := p.pair
		if p.withLabels && words == 1 && (&line[0] == &word[0] || bytes.IndexByte(word, ':') < 0) {
			read = p.readLabels
		}
		if wrong = read(word); wrong != nil {
			return wrong
		}
	}
	if words > 0 || !p.withLabels && !commented {
		p.endRow()
	}
	return nil
}

// labelsAlone reads a line of SVMlin's second file, without comments and empty lines.
func (p *parser) labelsAlone(line []byte) (wrong error) {
	line, _, _ = bytes.Cut(line, []byte("#"))
	if line = bytes.TrimSpace(line); len(line) > 0 {
		wrong = p.readLabels(line)
		p.endRow()
	}
	return wrong
}

func (p *parser) endRow() {
	p.Rows++
	p.Indptr, p.LabelIndptr = append(p.Indptr, int64(len(p.Values))), append(p.LabelIndptr, int64(len(p.Labels)))
}

// readLabels reads the labels "3" or "3,17" of a row.
func (p *parser) readLabels(word []byte) error {
	for text := range bytes.SplitSeq(word, []byte(",")) {
		value, ok := number(text)
		if !ok {
			return fmt.Errorf("the label %.40q is not a finite number (rows without labels need a file of labels)", word)
		}
		p.Labels = append(p.Labels, value)
	}
	return nil
}

// number reads a finite decimal number. strconv also reads NaN, infinity, 0x1p-2 and 1_000.
func number(text []byte) (value float64, ok bool) {
	value, err := strconv.ParseFloat(string(text), 64)
	return value, err == nil && value-value == 0 && !bytes.ContainsAny(text, "xX_")
}

// pair reads a feature and its value, "17:0.5".
func (p *parser) pair(word []byte) error {
	name, text, paired := bytes.Cut(word, []byte(":"))
	unsigned, err := strconv.ParseUint(string(name), 10, 32)
	feature := int(unsigned)
	value, ok := number(text)
	switch {
	case !paired:
		return fmt.Errorf("%.40q is not a feature:value pair", word)
	case string(name) == "qid":
		return nil
	case err != nil || feature < p.base || feature >= p.end:
		return fmt.Errorf("the feature number in %.40q is not a whole number from %d to %d, by zero_based and n_features",
			word, p.base, p.end-1)
	case !ok:
		return fmt.Errorf("the value in %.40q is not a finite number", word)
	}
	p.Indices, p.Values = append(p.Indices, int32(feature-p.base)), append(p.Values, value)
	p.Features = max(p.Features, feature-p.base+1)
	return nil
}

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
	number         int // of the line that is read
	job            *work.Job
	file           *os.File
	decoder        io.Reader
	end            error // why no text is left: io.EOF or a failure

	produced  int64 // bytes of text
	expansion int64 // bytes of text allowed for a byte of the file; 0: any
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

// Read gives text as long as the file expands to no more than is allowed.
func (s *source) Read(p []byte) (n int, err error) {
	s.job.Check()
	n, s.end = s.decoder.Read(p)
	if s.produced += int64(n); s.expansion > 0 && s.produced > freeText {
		if taken, _ := s.file.Seek(0, io.SeekCurrent); s.produced > s.expansion*taken {
			s.end = errExpansion
		}
	}
	return n, s.end
}

// line is bufio.ScanLines, but the start of a line in front of a failure is no line. The room for a line that is longer
// is doubled.
func (s *source) line(text []byte, atEnd bool) (length int, line []byte, err error) {
	length, line, err = bufio.ScanLines(text, atEnd && s.end == io.EOF)
	if line == nil && len(text) >= askedRoom && len(text) < longestLine && len(text)&(len(text)-1) == 0 {
		err = askBytes(2*len(text), s.path)
	}
	return length, line, err
}

const askedRoom = 1 << 23 // for a line, from which on it is asked for

// failure names the file and distinguishes a failing disk from a damaged file.
func (s *source) failure(err error) error {
	switch {
	case errors.As(err, new(*fault.Error)):
		return err
	case errors.As(err, new(*fs.PathError)):
		return fault.File("cannot read %s: %v", s.path, Reason(err))
	case err == bufio.ErrTooLong:
		return fault.Data("%s, line %d: it is longer than %d bytes: this is not a svmlight file", s.path, s.number,
			longestLine)
	case err == errExpansion:
		return fault.Data("%s gives more than %d times as much text as it has bytes, and more than %d MiB: if you trust it, "+
			"raise max_expansion", s.path, s.expansion, freeText>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Data("%s is truncated, or a few other bytes follow the compressed data", s.path)
	}
	return fault.Data("%s cannot be decompressed: %v", s.path, err)
}
