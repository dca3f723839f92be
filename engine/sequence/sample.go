package sequence

import (
	"fmt"
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Problem is what a fit learns from.
type Problem struct {
	Rows    *rows.Matrix
	Lengths []int64 // tokens of each sequence
	Labels  []int32 // [tokens] tag 0 ... K-1, or -1: none
	Start   *Model  // a model to begin at; nil: from nothing
}

// sample is a problem made ready.
type sample struct {
	*work.Job
	options        Options
	loss           Loss
	rows           *rows.Matrix // packed, in units of length
	length         float64      // the root of the mean square length of the rows
	feature        []int32      // [rows.Cols] the problem's number of each packed feature
	bounds         []int        // sequence i is the tokens bounds[i] ... bounds[i+1]-1
	labels         []int32
	labeled        float64 // tokens with a label
	tags, features int
	prior          []float64 // [K] class prior of the sequences without any label
	shape          panel.Shape
	belief         unlabeled // nil: sequences without any label have no loss
	open           mask
}

// mask says which transitions are forbidden.
type mask struct {
	pair       []bool // [K*K]; nil: none is
	start, end []bool // [K]
}

// newSample checks a problem and makes it ready.
func newSample(p Problem, o Options, job *work.Job) (*sample, error) {
	if o.Loss == "huber" && o.Solver == "lbfgs" {
		return nil, fault.Argument("solver is \"lbfgs\", but the loss huber is not smooth: use \"stochastic\", or the loss " +
			"soft_hinge")
	}
	s := &sample{Job: job, options: o, labels: p.Labels, loss: lossNamed(o), features: p.Rows.Cols()}
	var err error
	if s.bounds, err = Bounds(p.Lengths, p.Rows.Rows()); err != nil {
		return nil, err
	}
	if err = s.countTags(p); err != nil {
		return nil, err
	}
	if err = s.checkMethod(); err != nil {
		return nil, err
	}
	s.shape = panel.Shape{Features: p.Rows.Cols(), Classes: s.tags}
	if err = s.checkMemory(p.Rows.NonZeros()); err != nil {
		return nil, err
	}
	if s.open, err = masked(o.Forbidden, s.tags); err != nil {
		return nil, err
	}
	if err = s.checkPaths(); err != nil {
		return nil, err
	}
	s.length = p.Rows.RootMeanSquare(job, nil)
	s.rows, s.feature = p.Rows.Packed(job)
	s.rows = s.rows.Scaled(1 / s.length)
	s.shape.Features = s.rows.Cols()
	return s, nil
}

// Bounds turns lengths of sequences into the places where they begin, and checks that they make up all rows.
func Bounds(lengths []int64, rows int) ([]int, error) {
	bounds := make([]int, len(lengths)+1)
	for i, length := range lengths {
		if length < 1 {
			return nil, fault.Data("lengths of sequence %d is %d: every sequence needs a token", i, length)
		}
		if length > int64(rows-bounds[i]) {
			return nil, fault.Data("lengths of the sequences 0 to %d sum to more than the %d rows", i, rows)
		}
		bounds[i+1] = bounds[i] + int(length)
	}
	if total := bounds[len(lengths)]; total != rows {
		return nil, fault.Data("lengths sum to %d, but there are %d rows", total, rows)
	}
	return bounds, nil
}

// countTags finds K and checks that every tag has a label.
func (s *sample) countTags(p Problem) error {
	n := p.Rows.Rows()
	if len(p.Labels) != n {
		return fault.Argument("labels has %d entries, but there are %d rows", len(p.Labels), n)
	}
	for t, label := range p.Labels {
		if label < -1 || int(label) >= n {
			return fault.Data("labels of row %d is %d: it must be -1 (none) or a tag number from 0 on, of not more tags "+
				"than the %d rows", t, label, n)
		}
		s.tags = max(s.tags, int(label)+1)
	}
	if s.tags == 0 {
		return fault.Data("labels: no token has a label")
	}
	s.prior = make([]float64, s.tags)
	for _, label := range p.Labels {
		if label >= 0 {
			s.prior[label]++
			s.labeled++
		}
	}
	for y, count := range s.prior {
		if count == 0 {
			return fault.Data("labels: no token has tag %d: number the tags that occur from 0 on", y)
		}
		s.prior[y] /= s.labeled
	}
	return nil
}

// checkMemory refuses a fit that would not fit, before anything of the size of K² is made.
func (s *sample) checkMemory(nonZeros int) error {
	vectors, scores, columns := 3.0, 0.0, 0 // weights, gradient, sums of squares
	if s.options.Solver == "lbfgs" {
		vectors, scores = 2*pairs+6, float64(len(s.labels))*float64(s.shape.Stride())
		columns = rows.ColumnBytes(nonZeros, s.shape)
	}
	k := float64(s.tags)
	if s.options.Method == Posterior {
		scores = float64(len(s.labels)) * k
	}
	square := k * k * (8*(2*blocks+2) + 1) // counts of the blocks or of a mini-batch, each twice; the chain; the mask
	bytes := 8*(vectors*(float64(s.shape.Features)*float64(s.shape.Stride())+k*k)+scores) + square + float64(columns)
	return memory.Need(bytes, fmt.Sprintf("a fit of sequences with %d tags and %d features", s.tags, s.shape.Features),
		"use fewer tags or features, or the solver \"stochastic\"")
}

// masked reads pairs of tags that must not follow one another.
func masked(pairs []int, tags int) (m mask, err error) {
	if len(pairs) == 0 {
		return m, nil
	}
	m = mask{make([]bool, tags*tags), make([]bool, tags), make([]bool, tags)}
	for k := 0; k < len(pairs); k += 2 {
		from, to := pairs[k], pairs[k+1]
		switch {
		case from >= tags || to >= tags || from < 0 && to < 0:
			return m, fault.Argument("forbidden_transitions has the pair %d, %d: tags are 0 to %d, and one of the two may be "+
				"-1, the start or the end", from, to, tags-1)
		case from < 0:
			m.start[to] = true
		case to < 0:
			m.end[from] = true
		default:
			m.pair[from*tags+to] = true
		}
	}
	return m, nil
}

// apply puts -Inf where the chain must not go, and makes it ready.
func (m mask) apply(c *Chain) {
	for _, part := range []struct {
		forbidden []bool
		scores    []float64
	}{{m.pair, c.Pair}, {m.start, c.Start}, {m.end, c.End}} {
		for k, forbidden := range part.forbidden {
			if forbidden {
				part.scores[k] = math.Inf(-1)
			}
		}
	}
	c.Refresh()
}

// checkPaths refuses sequences whose labels leave no path.
func (s *sample) checkPaths() error {
	if s.open.pair == nil {
		return nil
	}
	c, l := NewChain(s.tags), &Lattice{}
	s.open.apply(c)
	for i := range s.sequences() {
		labels := s.of(i)
		unary, path := make([]float64, len(labels)*s.tags), make([]int32, len(labels))
		if math.IsInf(c.Best(l, l.Constrain(unary, labels, s.tags), path), -1) {
			return s.noPath(i, c)
		}
	}
	return nil
}

// noPath says where the labels of a sequence use a forbidden transition, or that all of its paths do.
func (s *sample) noPath(i int, c *Chain) error {
	labels := s.of(i)
	for t, label := range labels {
		if t > 0 && label >= 0 && labels[t-1] >= 0 && math.IsInf(c.Pair[int(labels[t-1])*s.tags+int(label)], -1) {
			return fault.Data("labels of sequence %d, tokens %d and %d (row %d): tag %d after tag %d is in "+
				"forbidden_transitions", i, t-1, t, s.bounds[i]+t, label, labels[t-1])
		}
	}
	return fault.Data("forbidden_transitions leave no path for sequence %d of %d tokens with its labels", i, len(labels))
}

func (s *sample) sequences() int { return len(s.bounds) - 1 }

func (s *sample) span(i int) rows.Span { return rows.Span{First: s.bounds[i], End: s.bounds[i+1]} }

// of is the labels of a sequence.
func (s *sample) of(i int) []int32 { return s.labels[s.bounds[i]:s.bounds[i+1]] }

// lossNamed is the loss of the options.
func lossNamed(o Options) Loss {
	switch o.Loss {
	case "crf":
		return Soft{1, None}
	case "soft_hinge":
		return Soft{o.Rho, o.Cost}
	case "huber":
		return Huber{o.Epsilon, o.Cost}
	}
	return Soft{1, o.Cost}
}
