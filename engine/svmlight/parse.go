package svmlight

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/work"
)

// parser turns lines into arrays. Its methods row and labelsAlone read a line and return what is wrong with it.
type parser struct {
	rows, features      int
	indptr, labelIndptr list[int64]
	indices             list[int32]
	values, labels      list[float64]

	job        *work.Job
	withLabels bool // each row starts with its labels
	base, end  int  // numbers of the first feature and behind the largest that is allowed
}

func readFile(path string, o ReadOptions, job *work.Job, parse func(*parser, []byte) error) (*Data, error) {
	text, err := open(path, o.MaxExpansion, job)
	if err != nil {
		return nil, err
	}
	defer text.file.Close()
	base := firstFeature(o.ZeroBased)
	p := &parser{features: o.Features, job: job, withLabels: o.LabelsPath == "", base: base,
		end: base + cmp.Or(o.Features, math.MaxInt32)}
	p.indptr.last, p.labelIndptr.last = []int64{0}, []int64{0}
	for text.Scan() {
		if err := p.room(text.Bytes(), path); err != nil {
			return nil, err
		}
		if wrong := parse(p, text.Bytes()); wrong != nil {
			return nil, fault.Data("%s, line %d: %v", path, text.lines, wrong)
		}
	}
	if err := text.Err(); err != nil {
		return nil, text.failure(err)
	}
	return p.data(path)
}

// data joins what was read.
func (p *parser) data(path string) (*Data, error) {
	if err := ask(p.values.length(), p.labels.length(), p.indptr.length(), path); err != nil {
		return nil, err
	}
	return &Data{p.rows, p.features, p.indptr.joined(), p.indices.joined(), p.values.joined(), p.labels.joined(),
		p.labelIndptr.joined()}, nil
}

func firstFeature(zeroBased bool) int {
	if zeroBased {
		return 0
	}
	return 1
}

// room makes room for what a line may hold.
func (p *parser) room(line []byte, path string) error {
	values := p.values.missing(bytes.Count(line, []byte(":")))
	labels := p.labels.missing(1 + bytes.Count(line, []byte(",")))
	rows := p.indptr.missing(1)
	if values+labels+rows == 0 {
		return nil
	}
	if err := ask(values, labels, rows, path); err != nil {
		return err
	}
	p.indices.grow(values)
	p.values.grow(values)
	p.labels.grow(labels)
	p.indptr.grow(rows)
	p.labelIndptr.grow(rows)
	return nil
}

// ask refuses to read what there is no memory for.
func ask(values, labels, rows int, path string) error {
	return askBytes(12*values+8*labels+16*rows, path)
}

func askBytes(bytes int, path string) error {
	const garbage = 1.25
	return need(garbage*float64(bytes), "reading "+path, "read the file in parts, or on a machine with more memory")
}

// list grows piece by piece: an array that moved, again and again, would leave gaps that are too small for the next.
type list[T any] struct {
	pieces [][]T
	last   []T
	before int // entries of the pieces
}

func (l *list[T]) length() int { return l.before + len(l.last) }

// missing is the size of the piece that n more entries need; 0: there is room for them.
func (l *list[T]) missing(n int) int {
	if len(l.last)+n <= cap(l.last) {
		return 0
	}
	return max(n, l.length()/4, 1<<8)
}

func (l *list[T]) grow(size int) {
	if size > 0 {
		l.before = l.length()
		l.pieces, l.last = append(l.pieces, l.last), make([]T, 0, size)
	}
}

// joined is the whole list, which is empty then.
func (l *list[T]) joined() []T {
	whole := slices.Concat(append(l.pieces, l.last)...)
	*l = list[T]{}
	return whole
}

var need = memory.Need // replaced in tests

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
	p.rows++
	p.indptr.last = append(p.indptr.last, int64(p.values.length()))
	p.labelIndptr.last = append(p.labelIndptr.last, int64(p.labels.length()))
}

// readLabels reads the labels "3" or "3,17" of a row.
func (p *parser) readLabels(word []byte) error {
	for text := range bytes.SplitSeq(word, []byte(",")) {
		value, ok := number(text)
		if !ok {
			return fmt.Errorf("the label %.40q is not a finite number (rows without labels need a file of labels)", word)
		}
		p.labels.last = append(p.labels.last, value)
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
	p.indices.last, p.values.last = append(p.indices.last, int32(feature-p.base)), append(p.values.last, value)
	p.features = max(p.features, feature-p.base+1)
	return nil
}
