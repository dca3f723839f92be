package svmlight

import (
	"cmp"
	"io"
	"sync"

	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Read reads a svmlight file, plain or compressed with gzip or zstd, recognized by its first bytes. Errors name the
// file and the line. The result is the same for any number of threads.
func Read(path string, o ReadOptions) (*Data, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return read(path, o, usualBlock)
}

func read(path string, o ReadOptions, blockSize int) (data *Data, err error) {
	err = work.Guard(func() error { // which gives the cancelled error
		job := work.NewJob(o.Threads, o.Progress)
		if data, err = readAll(path, o, blockSize, job); err == nil && o.LabelsPath != "" {
			err = data.addLabels(path, o, job)
		}
		return err
	})
	return data, err
}

func readAll(path string, o ReadOptions, blockSize int, job *work.Job) (*Data, error) {
	text, err := openSource(path, o, job)
	if err != nil {
		return nil, err
	}
	defer text.close()
	text.blockSize = blockSize
	r := &reading{options: o, text: text, turn: make(chan struct{}),
		all: Data{Features: o.Features, Indptr: []int64{0}, LabelIndptr: []int64{0}}}
	close(r.turn)
	job.Run(job.Threads(), func(int) { r.work() })
	if r.failure != nil {
		return nil, r.failure
	}
	return &r.all, nil
}

// reading is one file on its way into arrays. Workers take turns twice: to take the next block of text, under lock, and
// to append what they found in it, in the order of the blocks. So the text, what was found in it and the result are
// never held twice: there is one block of text a worker and what that worker found in it.
type reading struct {
	options ReadOptions
	all     Data

	lock    sync.Mutex
	text    *source
	turn    chan struct{} // closed when what the newest block holds may be appended
	stopped bool

	lines   int   // appended so far, with failure and all the business of the worker whose turn it is
	failure error // the first in the order of the file
}

func (r *reading) work() {
	p := &parser{options: r.options, job: r.text.job}
	for r.readBlock(p) {
	}
}

// readBlock takes, parses and appends the next block of text, and reports whether there was one.
func (r *reading) readBlock(p *parser) bool {
	share, turn, next, err := r.next(p)
	if next == nil {
		return false
	}
	defer close(next)
	defer func() { <-turn }() // also when the parser panics: the turns stay in order
	var found *mistake
	if err = cmp.Or(err, r.roomToParse(p.text)); err == nil {
		found = p.parse()
	}
	<-turn
	switch {
	case r.failure != nil:
	case err == errLongLine:
		r.failure = longLine().at(r.text.path, r.lines+1)
	case err != nil:
		r.failure = err
	case found != nil:
		r.failure = found.at(r.text.path, r.lines+p.lines)
	default:
		r.failure = r.append(&p.piece, share)
	}
	if r.failure != nil {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.stopped = true
	}
	return true
}

// next takes the next block of text, the part of the file up to its end, and the turns of it and of the one behind; nil
// when there is none. A block with an error has no text and is the last.
func (r *reading) next(p *parser) (share float64, turn, next chan struct{}, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.stopped {
		return 0, nil, nil, nil
	}
	p.reset()
	p.text, err = r.text.block(p.text)
	r.stopped = err != nil
	if err == io.EOF {
		return 0, nil, nil, nil
	}
	turn, r.turn = r.turn, make(chan struct{})
	return r.text.share(), turn, r.turn, err
}

// roomToParse asks for the memory that a long line takes. A value has 4 bytes of text or more, and 12 in arrays, which
// are copied as they grow.
func (r *reading) roomToParse(text []byte) error {
	if len(text) < 4*usualBlock {
		return nil
	}
	return need(7*float64(len(text)), "reading "+r.text.path, readInParts)
}

// append takes over what a block has. Arrays that are full move to places for the whole file if it goes on as it began,
// once or twice early on, or where there is no memory for that, to a little more than is needed.
func (r *reading) append(p *piece, share float64) error {
	d := &r.all
	p.shiftEnds(int64(len(d.Values)), int64(len(d.Labels)))
	growth := forecast(share)
	if r.roomFor(p, growth) != nil {
		growth = 1.125
	}
	if err := r.roomFor(p, growth); err != nil {
		return err
	}
	d.Values, d.Indices = extend(d.Values, p.values, growth), extend(d.Indices, p.indices, growth)
	d.Labels, d.LabelIndptr = extend(d.Labels, p.labels, growth), extend(d.LabelIndptr, p.labelEnds, growth)
	d.Indptr = extend(d.Indptr, p.ends, growth)
	d.Rows += len(p.ends)
	r.lines += p.lines
	if r.options.Features == 0 {
		d.Features = max(d.Features, p.columns)
	}
	return nil
}

// forecast is how many times what is there the whole file has; share is the part of it read so far, 0 if unknown.
func forecast(share float64) float64 {
	const smallest = 1.0 / (1 << 14) // less is too little for a forecast
	switch share {
	case 0:
		return 2
	case 1:
		return 1
	}
	return 1.1 / max(share, smallest)
}

// roomFor asks for the memory of arrays that have to grow for a piece.
func (r *reading) roomFor(p *piece, growth float64) error {
	values, rows := len(r.all.Values)+len(p.values), len(r.all.Indptr)+len(p.ends)
	bytes := 0.0
	if values > cap(r.all.Values) {
		bytes += 12 * float64(values)
	}
	if rows > cap(r.all.Indptr) {
		bytes += 24 * float64(rows)
	}
	return need(growth*bytes, "reading "+r.text.path, readInParts)
}

func extend[T any](all, more []T, growth float64) []T {
	if needed := len(all) + len(more); needed > cap(all) {
		all = append(make([]T, 0, int(growth*float64(needed))), all...)
	}
	return append(all, more...)
}

const readInParts = "read the file in parts, or on a machine with more memory"

// need is replaced in tests.
var need = memory.Need
