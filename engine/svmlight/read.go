package svmlight

import (
	"cmp"
	"io"
	"sync"

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
	r := newReading(text, o)
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
	last    *block // the newest block that a worker took
	stopped bool

	lines   int   // appended so far, with failure and all the business of the worker whose turn it is
	failure error // the first in the order of the file
}

// block is one piece of the text on its way.
type block struct {
	text     []byte
	share    float64 // of the file, read up to here
	previous *block
	appended chan struct{} // closed when it is the next block's turn
}

func newReading(text *source, o ReadOptions) *reading {
	start := &block{appended: make(chan struct{})}
	close(start.appended)
	return &reading{
		options: o, text: text, last: start,
		all: Data{Features: o.Features, Indptr: []int64{0}, LabelIndptr: []int64{0}},
	}
}

func (r *reading) work() {
	p := &parser{options: r.options, job: r.text.job}
	var buffer []byte
	for {
		b, err := r.next(buffer)
		if b == nil {
			return
		}
		p.reset()
		r.digest(b, p, err)
		buffer = b.text
	}
}

// next takes the next block of text; nil when there is none. A block with an error has no text and is the last.
func (r *reading) next(buffer []byte) (*block, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.stopped {
		return nil, nil
	}
	text, err := r.text.block(buffer)
	if err != nil {
		r.stopped = true
	}
	if err == io.EOF {
		return nil, nil
	}
	b := &block{text: text, share: r.text.share(), previous: r.last, appended: make(chan struct{})}
	r.last = b
	return b, err
}

// digest parses a block and, when it is its turn, appends what it found.
func (r *reading) digest(b *block, p *parser, err error) {
	defer func() {
		<-b.previous.appended // also when the parser panics: the turns stay in order
		b.previous = nil      // let the memory of the older blocks go
		close(b.appended)
	}()
	var found *mistake
	if err = cmp.Or(err, r.roomToParse(b.text)); err == nil {
		found = p.parse(b.text)
	}
	<-b.previous.appended
	switch {
	case r.failure != nil:
	case err == errLongLine:
		r.failure = longLine().at(r.text.path, r.lines+1)
	case err != nil:
		r.failure = err
		r.stop()
	case found != nil:
		r.failure = found.at(r.text.path, r.lines+p.lines)
		r.stop()
	default:
		if r.failure = r.append(&p.piece, b.share); r.failure != nil {
			r.stop()
		}
	}
}

// roomToParse asks for the memory that a long line takes. A value has 4 bytes of text or more, and 12 in arrays, which
// are copied as they grow.
func (r *reading) roomToParse(text []byte) error {
	if len(text) < 4*usualBlock {
		return nil
	}
	return need(7*float64(len(text)), "reading "+r.text.path, readInParts)
}

func (r *reading) stop() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.stopped = true
}

func (r *reading) append(p *piece, share float64) error {
	d := &r.all
	p.shiftEnds(int64(len(d.Values)), int64(len(d.Labels)))
	arrays := []growing{addition[float64]{&d.Values, p.values}, addition[int32]{&d.Indices, p.indices},
		addition[float64]{&d.Labels, p.labels}, addition[int64]{&d.Indptr, p.ends},
		addition[int64]{&d.LabelIndptr, p.labelEnds}}
	by, err := roomFor(arrays, share, r.text.path)
	if err != nil {
		return err
	}
	for _, array := range arrays {
		array.extend(by)
	}
	d.Rows += len(p.ends)
	r.lines += p.lines
	if r.options.Features == 0 {
		d.Features = max(d.Features, p.columns)
	}
	return nil
}
