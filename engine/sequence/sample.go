package sequence

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	prepare "github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Problem is what a fit learns from. The caller has checked the lengths of Labels and Allowed.
type Problem struct {
	Rows    *rows.Matrix
	Lengths []int64      // tokens of each sequence
	Labels  []int32      // [tokens] tag 0 ... K-1, or -1: none
	Allowed []uint8      // [tokens*K] 0: a token without a label cannot have the tag; nil: it can have any
	Start   *model.Chain // a model to begin at; nil: from nothing
}

const blocks = 16 // parts that sequences are divided into for sums: as many on any number of threads

// sample is a problem made ready. It is read-only.
type sample struct {
	*work.Job
	*prepare.Prepared
	options        Options
	loss           SoftmaxMargin // of the labeled sequences
	keys           []uint64      // [sequences] from those of their rows
	bounds         []int         // sequence i is the tokens bounds[i] ... bounds[i+1]-1
	longest        int           // tokens of a sequence
	labels         []int32       // tags; -1: none; -2 - t: those in allowed of token t
	allowed        []uint8       // of the problem
	labeled        float64       // tokens with a label or a set
	tags, features int
	prior          []float64 // [K] class prior of the sequences without any label
	shape          panel.Shape
	forbidden      []int // places in edges
}

func newSample(p Problem, o Options, job *work.Job) (s *sample, err error) {
	losses := map[string]SoftmaxMargin{"softmax_margin": {1, 1}, "crf": {1, 0}, "soft_hinge": {o.Rho, 1}}
	s = &sample{Job: job, options: o, labels: p.Labels, allowed: p.Allowed, loss: losses[o.Loss],
		features: p.Rows.Cols(), Prepared: &prepare.Prepared{Rows: p.Rows}}
	if s.bounds, s.longest, err = boundsOf(p.Lengths, p.Rows.Rows()); err != nil {
		return nil, err
	}
	for _, check := range []func() error{
		s.countTags, s.readAllowed, s.checkPrior, s.checkMemory, s.forbid, s.checkPaths,
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	s.Prepared = prepare.Problem{Rows: p.Rows}.Prepare(job)
	if err := p.Rows.CheckLength(s.Length); err != nil {
		return nil, err
	}
	s.keys, s.shape.Features = make([]uint64, s.sequences()), s.Rows.Cols()
	for i, keys := 0, s.SharedKeys(job); i < s.sequences(); i++ {
		for _, key := range keys[s.bounds[i]:s.bounds[i+1]] {
			s.keys[i] = (s.keys[i] ^ key) * prepare.Mixer
		}
	}
	return s, nil
}

// boundsOf turns lengths of sequences into the places where they begin, and checks that they make up all rows.
func boundsOf(lengths []int64, rows int) (bounds []int, longest int, err error) {
	bounds = make([]int, len(lengths)+1)
	for i, length := range lengths {
		if length < 1 || length > int64(rows) {
			return nil, 0, fault.Data("lengths of sequence %d is %d: it must be 1 to the number of rows, %d", i, length,
				rows)
		}
		bounds[i+1], longest = bounds[i]+int(length), max(longest, int(length))
	}
	if total := bounds[len(lengths)]; total != rows {
		return nil, 0, fault.Data("lengths sum to %d, but there are %d rows", total, rows)
	}
	return bounds, longest, nil
}

// countTags finds K and checks that every tag has a label.
func (s *sample) countTags() error {
	n := len(s.labels)
	for t, label := range s.labels {
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
	for _, label := range s.labels {
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

// readAllowed gives tokens without a label the only tag that they may have, or the label of a set of tags.
func (s *sample) readAllowed() error {
	if s.allowed == nil {
		return nil
	}
	s.labels = slices.Clone(s.labels)
	for t, label := range s.labels {
		row := s.allowed[t*s.tags : (t+1)*s.tags]
		count := s.tags - bytes.Count(row, []byte{0})
		switch {
		case label >= 0 || count == s.tags:
			continue
		case count == 0:
			return fault.Data("allowed of row %d has no tag: at least one is needed", t)
		case count == 1:
			s.labels[t] = int32(slices.IndexFunc(row, func(v uint8) bool { return v != 0 }))
		default:
			s.labels[t] = int32(-2 - t)
		}
		s.labeled++
	}
	return nil
}

func (s *sample) checkPrior() error {
	prior := s.options.ClassPrior
	if len(prior) == 0 {
		return nil
	}
	if len(prior) != s.tags {
		return fault.Argument("class_prior has %d shares, but there are %d tags", len(prior), s.tags)
	}
	if sum := vector.Sum(prior); math.Abs(sum-1) > 1e-6 {
		return fault.Argument("class_prior sums to %v: the shares of all tags must sum to 1, divide each by the sum", sum)
	}
	s.prior = prior
	return nil
}

// checkMemory refuses a fit that does not fit, before anything of the size of K², or of K numbers a token, is made.
func (s *sample) checkMemory() error {
	s.shape = panel.Shape{Features: s.features, Classes: s.tags}
	const (
		vectors   = 3 // weights, gradient, sums of squares
		perToken  = 9 // and tag of the sequence at a place of a mini-batch: scores, their gradient, a lattice
		perRow    = 24
		perColumn = 16
	)
	k, stride, tokens := float64(s.tags), float64(s.shape.Stride()), float64(s.longest)
	n := float64(len(s.labels))
	numbers := vectors*(float64(s.features)*stride+k*k) + perToken*stride*tokens*float64(batchOf(s.sequences())) +
		methods[s.options.Method].scores*stride*n
	square := k * k * 8 * (2*blocks + 2) // counts of the blocks or of a mini-batch, each twice; the chain
	bytes := 8*numbers + square + perRow*n + perColumn*float64(s.features) + 4*float64(s.Rows.NonZeros()) +
		8*float64(len(s.options.Forbidden)) // pairs as they grow
	return memory.Need(bytes, fmt.Sprintf("a fit of sequences with %d tags and %d features", s.tags, s.features),
		"use fewer tags or features, or shorter sequences")
}

// forbid reads the pairs of tags that must not follow one another.
func (s *sample) forbid() error {
	tags := s.options.Forbidden
	if len(tags)%2 != 0 {
		return fault.Argument("forbidden_transitions has %d numbers: they must be pairs", len(tags))
	}
	for pair := range slices.Chunk(tags, 2) {
		from, to := pair[0], pair[1]
		switch {
		case from >= s.tags || to >= s.tags || from < 0 && to < 0:
			return fault.Argument("forbidden_transitions has the pair %d, %d: tags are 0 to %d, and one of the two may be "+
				"-1, the start or the end", from, to, s.tags-1)
		case from < 0:
			from = s.tags // starts are behind the transitions, and then the ends
		case to < 0:
			from, to = s.tags+1, from
		}
		s.forbidden = append(s.forbidden, from*s.tags+to)
	}
	return nil
}

// applyMask puts -Inf where a chain must not go.
func (s *sample) applyMask(scores edges) {
	for _, k := range s.forbidden {
		scores.all[k] = math.Inf(-1)
	}
}

// setChain sets a chain to weights times the sharpness of the loss, with what is forbidden.
func (s *sample) setChain(c *chain, weights edges) {
	floats.ScaleTo(c.all, s.loss.Rho, weights.all)
	s.applyMask(c.edges)
	c.refresh()
}

// sharpen copies scores [T, stride] times the sharpness of the loss to dst [T*K].
func (s *sample) sharpen(dst, scores []float64) {
	k, stride := s.tags, s.shape.Stride()
	for t := range len(dst) / k {
		floats.ScaleTo(dst[t*k:(t+1)*k], s.loss.Rho, scores[t*stride:t*stride+k])
	}
}

func (s *sample) checkPaths() error {
	if len(s.forbidden) == 0 {
		return nil
	}
	c, l := newChain(s.tags, s.allowed), &lattice{}
	s.setChain(c, c.edges)
	for i := range s.sequences() {
		labels := s.of(i)
		unary := make([]float64, len(labels)*s.tags)
		if math.IsInf(c.forward(l, c.withCost(l, unary, labels, math.Inf(-1))), -1) {
			return s.noPath(i, c)
		}
	}
	return nil
}

// noPath is the error where the labels of a sequence use a forbidden transition, or all of its paths do.
func (s *sample) noPath(i int, c *chain) error {
	labels := s.of(i)
	for t, label := range labels {
		if t > 0 && label >= 0 && labels[t-1] >= 0 && math.IsInf(c.pair[int(labels[t-1])*s.tags+int(label)], -1) {
			return fault.Data("labels of sequence %d, tokens %d and %d (row %d): tag %d after tag %d is in "+
				"forbidden_transitions", i, t-1, t, s.bounds[i]+t, label, labels[t-1])
		}
	}
	return fault.Data("forbidden_transitions leave no path for sequence %d of %d tokens with its labels", i, len(labels))
}

func (s *sample) sequences() int { return len(s.bounds) - 1 }

// list is the sequences without any label, or the others, in an order that theirs in the problem has no part in.
func (s *sample) list(unlabeled bool) (list []int) {
	for i := range s.sequences() {
		if s.unlabeled(i) == unlabeled {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(s.keys[a], s.keys[b]) })
	return list
}

func (s *sample) span(i int) rows.Span { return rows.Span{First: s.bounds[i], End: s.bounds[i+1]} }

func (s *sample) of(i int) []int32 { return s.labels[s.bounds[i]:s.bounds[i+1]] }

// unlabeled reports whether no token of a sequence has a label or a set.
func (s *sample) unlabeled(i int) bool {
	return !slices.ContainsFunc(s.of(i), func(y int32) bool { return y != -1 })
}
