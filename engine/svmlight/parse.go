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
	Data
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
	p := &parser{Data: Data{Features: o.Features, Indptr: []int64{0}, LabelIndptr: []int64{0}}, job: job,
		withLabels: o.LabelsPath == "", base: base, end: base + cmp.Or(o.Features, math.MaxInt32)}
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
	return &p.Data, nil
}

func firstFeature(zeroBased bool) int {
	if zeroBased {
		return 0
	}
	return 1
}

// room makes room for what a line may hold, if there is memory for the arrays that take the place of full ones.
func (p *parser) room(line []byte, path string) error {
	values, labels := larger(p.Values, bytes.Count(line, []byte(":"))), larger(p.Labels, 1+bytes.Count(line, []byte(",")))
	rows := larger(p.Indptr, 1)
	if values+labels+rows == 0 {
		return nil
	}
	if err := askBytes(12*values+8*labels+16*rows, path); err != nil {
		return err
	}
	p.Indices, p.Values, p.Labels = grown(p.Indices, values), grown(p.Values, values), grown(p.Labels, labels)
	p.Indptr, p.LabelIndptr = grown(p.Indptr, rows), grown(p.LabelIndptr, rows)
	return nil
}

// larger is the size of a list with room for n more entries; 0: it has room.
func larger[T any](list []T, n int) int {
	if len(list)+n <= cap(list) {
		return 0
	}
	return len(list) + max(n, len(list)/4, 1<<8)
}

func grown[T any](list []T, size int) []T { return slices.Grow(list, max(0, size-len(list))) }

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
