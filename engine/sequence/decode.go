package sequence

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Decoded is where the results of a decoding go; nil: none.
type Decoded struct {
	Tags      []int32   // [tokens] of the best path
	Scores    []float64 // [sequences] of the best path
	Margins   []float64 // [sequences] less the score of the second best path; +Inf where there is one path only
	Marginals []float64 // [tokens*K] probabilities
}

// Decode finds best paths, margins and marginals of sequences of the lengths by a model.
func Decode(pool *work.Pool, m *model.Chain, x *rows.Matrix, lengths []int64, to Decoded) error {
	bounds, longest, err := boundsOf(lengths, x.Rows())
	if err := cmp.Or(model.CheckFeatures(x, m.Features), err); err != nil {
		return err
	}
	if err := checkDecoding(m, pool, len(lengths), longest); err != nil {
		return err
	}
	weights := rows.Weights{Coef: m.Coef, Intercept: make([]float64, m.Tags), ByFeature: true}
	d := decoder{chainOf(m), x, weights, to}
	failures := make([]error, decodeBlocks)
	pool.Run(decodeBlocks, func(b int) {
		l := &lattice{}
		first, end := part(b, decodeBlocks, len(lengths))
		for i := first; i < end && failures[b] == nil; i++ {
			failures[b] = d.decode(l, i, bounds[i], bounds[i+1])
		}
	})
	return cmp.Or(failures...)
}

const decodeBlocks = 64 // tasks that sequences are divided into

// part is where block b of n items begins and ends.
func part(b, blocks, n int) (first, end int) { return b * n / blocks, (b + 1) * n / blocks }

// checkDecoding refuses what there is no memory for: the transitions, and a lattice of every thread.
func checkDecoding(m *model.Chain, pool *work.Pool, sequences, longest int) error {
	const perToken = 6 // and tag
	k, atOnce := float64(m.Tags), min(pool.Threads(), decodeBlocks, sequences)
	bytes := 16*k*k + 8*perToken*k*float64(longest)*float64(atOnce) + 8*float64(sequences+1)
	return memory.Need(bytes, fmt.Sprintf("decoding sequences of up to %d tokens with %d tags", longest, m.Tags),
		"use fewer tags, shorter sequences or fewer threads")
}

// chainOf makes a model, which is checked, ready to decode.
func chainOf(m *model.Chain) *chain {
	c := newChain(m.Tags, nil)
	copy(c.all, slices.Concat(m.Transitions, m.Start, m.End))
	c.refresh()
	return c
}

type decoder struct {
	*chain
	rows    *rows.Matrix
	weights rows.Weights
	to      Decoded
}

func (d *decoder) decode(l *lattice, i, first, end int) error {
	scores := room(&l.unary, (end-first)*d.tags)
	rows.Span{First: first, End: end}.Decisions(d.rows, d.weights, scores)
	for k, score := range scores {
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return fault.Data("the score of tag %d in row %d is %v: it must be finite", k%d.tags, first+k/d.tags, score)
		}
	}
	path, score, second := room(&l.path, end-first), 0.0, 0.0
	if d.to.Tags != nil {
		path = d.to.Tags[first:end]
	}
	if d.to.Margins != nil {
		score, second = d.twoBest(l, scores, path, room(&l.second, end-first))
		d.to.Margins[i] = score - second
	} else {
		score = d.best(l, scores, path)
	}
	if math.IsInf(score, -1) {
		return fault.Data("sequence %d, the rows %d to %d, has no path: forbidden transitions leave none", i, first, end-1)
	}
	if d.to.Scores != nil {
		d.to.Scores[i] = score
	}
	if d.to.Marginals != nil {
		into := d.to.Marginals[first*d.tags : end*d.tags]
		clear(into)
		d.marginals(l, scores, 1, into, nil)
	}
	return nil
}
