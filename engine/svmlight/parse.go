package svmlight

import (
	"bytes"
	"math"

	"github.com/fewlabel/fewlabel/engine/work"
)

// parser turns blocks of whole lines into arrays; it is reset and used again for the next block.
type parser struct {
	options ReadOptions
	job     *work.Job
	text    []byte // of the block
	piece
}

// piece is what one block of lines holds. The ends count from the start of the block.
type piece struct {
	lines     int // read so far, the one with a mistake included
	ends      []int64
	indices   []int32
	values    []float64
	labels    []float64
	labelEnds []int64
	columns   int // the largest column and 1
}

func (p *piece) reset() {
	*p = piece{
		ends: p.ends[:0], indices: p.indices[:0], values: p.values[:0], labels: p.labels[:0], labelEnds: p.labelEnds[:0],
	}
}

func (p *piece) endRow() {
	p.ends = append(p.ends, int64(len(p.values)))
	p.labelEnds = append(p.labelEnds, int64(len(p.labels)))
}

// shiftEnds counts the ends from the start of the file, which has so many values and labels before the block.
func (p *piece) shiftEnds(values, labels int64) {
	for i := range p.ends {
		p.ends[i] += values
		p.labelEnds[i] += labels
	}
}

// parse reads whole lines up to the first mistake, which is in line number p.lines of the block.
func (p *parser) parse() *mistake {
	for text := p.text; len(text) > 0; {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		p.lines++
		if found := p.line(line); found != nil {
			return found
		}
	}
	return nil
}

func (p *parser) line(line []byte) *mistake {
	comment := bytes.IndexByte(line, '#')
	if comment >= 0 {
		line = line[:comment]
	}
	if p.options.labelsOnly {
		return p.onlyLabel(line)
	}
	start := skipBlanks(line, 0)
	rowsOnly := p.options.LabelsPath != ""
	if start == len(line) {
		if rowsOnly && comment < 0 {
			p.endRow() // a row without features
		}
		return nil
	}
	if !rowsOnly {
		var found *mistake
		if start, found = p.rowLabels(line, start); found != nil {
			return found
		}
	}
	if found := p.features(line, start); found != nil {
		return found
	}
	p.endRow()
	return nil
}

// rowLabels reads the labels "3" or "3,17" at the start of a row and returns where its features start.
func (p *parser) rowLabels(line []byte, start int) (int, *mistake) {
	first := token(line, start)
	if bytes.IndexByte(first, ':') >= 0 {
		if start > 0 {
			return start, nil
		}
		return 0, noLabel(first)
	}
	for at := 0; ; at++ {
		value, length := number(first[at:])
		at += length
		if length == 0 || (at < len(first) && first[at] != ',') || math.IsInf(value, 0) {
			return 0, badLabel(first)
		}
		p.labels = append(p.labels, value)
		if at == len(first) {
			return skipBlanks(line, start+at), nil
		}
	}
}

// features reads the pairs "number:value" from start to the end of the line.
func (p *parser) features(line []byte, start int) *mistake {
	base, columns := p.options.base(), p.options.columns()
	indices, values, most := p.indices, p.values, p.columns
	for at, look := start, start; at < len(line); at = skipBlanks(line, at) {
		if at-look > usualBlock { // inside of a long line
			p.job.Check()
			look = at
		}
		first, feature := at, 0
		for ; at < len(line) && isDigit(line[at]); at++ {
			feature = min(feature*10+int(line[at]-'0'), tooLarge)
		}
		if at == first || at == len(line) || line[at] != ':' {
			word := token(line, first)
			if !bytes.HasPrefix(word, []byte("qid:")) {
				return p.badPair(word)
			}
			at = first + len(word)
			continue
		}
		value, length := number(line[at+1:])
		at += 1 + length
		column := feature - base
		if length == 0 || (at < len(line) && !isBlank(line[at])) || math.IsInf(value, 0) || uint(column) >= uint(columns) {
			return p.badPair(token(line, first))
		}
		indices, values = append(indices, int32(column)), append(values, value)
		most = max(most, column+1)
	}
	p.indices, p.values, p.columns = indices, values, most
	return nil
}

const tooLarge = 1 << 40 // any feature number from here on

// token is the text from start to the next blank.
func token(line []byte, start int) []byte {
	end := start
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	return line[start:end]
}

func skipBlanks(line []byte, at int) int {
	for at < len(line) && isBlank(line[at]) {
		at++
	}
	return at
}

// isBlank counts the carriage return of a Windows line end as a blank.
func isBlank(c byte) bool { return c == ' ' || c-'\t' < 5 }
