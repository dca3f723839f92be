package sequence

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
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
	if err := model.CheckFeatures(x, m.Features); err != nil {
		return err
	}
	bounds, err := boundsOf(lengths, x.Rows())
	if err != nil {
		return err
	}
	if err := checkDecoding(m, pool, bounds); err != nil {
		return err
	}
	c := chainOf(m)
	weights := rows.Weights{Coef: m.Coef, Intercept: make([]float64, m.Tags), ByFeature: true}
	failures := make([]error, decodeBlocks)
	pool.Run(decodeBlocks, func(b int) {
		d := decoder{chain: c, rows: x, weights: weights, to: to}
		first, end := part(b, decodeBlocks, len(lengths))
		for i := first; i < end && failures[b] == nil; i++ {
			failures[b] = d.decode(i, bounds[i], bounds[i+1])
		}
	})
	return cmp.Or(failures...)
}

const decodeBlocks = 64 // tasks that sequences are divided into

// part is where block b of n items begins and ends.
func part(b, blocks, n int) (first, end int) { return b * n / blocks, (b + 1) * n / blocks }

// checkDecoding refuses what there is no memory for: the transitions, and a lattice of every thread.
func checkDecoding(m *model.Chain, pool *work.Pool, bounds []int) error {
	const perToken = 6 // and tag
	k, atOnce := float64(m.Tags), min(pool.Threads(), decodeBlocks, len(bounds)-1)
	bytes := 16*k*k + 8*perToken*k*float64(longest(bounds))*float64(atOnce) + 8*float64(len(bounds))
	return memory.Need(bytes, fmt.Sprintf("decoding sequences of up to %d tokens with %d tags", longest(bounds), m.Tags),
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
	memory  lattice
	to      Decoded
}

func (d *decoder) decode(i, first, end int) error {
	l, scores := &d.memory, room(&d.memory.unary, (end-first)*d.tags)
	rows.Span{First: first, End: end}.Decisions(d.rows, d.weights, scores)
	for k, score := range scores {
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return fault.Data("the score of tag %d in row %d is %v: it must be finite", k%d.tags, first+k/d.tags, score)
		}
	}
	path, score := room(&l.path, end-first), 0.0
	if d.to.Tags != nil {
		path = d.to.Tags[first:end]
	}
	if d.to.Margins != nil {
		second := 0.0
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

const underflow = 1e-250 // smaller sums of products are computed again in logarithms

// marginals adds factor times the expected counts under p(y) = exp(s(y) - log Z) to sums and returns log Z, -Inf where
// every path is forbidden; it adds nothing then. Those of tags at tokens go to into [T*K]; sums may be nil.
//
//	Symbols  f_t, b_t [K] logarithms of the forward and backward sums, each less a constant of its token; p = exp(f_t-1),
//	         q = exp(u_t + b_t), E = exp(P). Of each token only K exponentials are taken: Σ_i p_i E_ij is a product with
//	         a matrix that all tokens share, and where it underflows, the sum is made in logarithms
func (c *chain) marginals(l *lattice, unary []float64, factor float64, into []float64, sums *counts) float64 {
	k := c.tags
	total := c.forward(l, unary)
	if math.IsInf(total, -1) {
		return total
	}
	backward, next, p := room(&l.backward, 2*k)[:k], l.backward[k:2*k], room(&l.row, k)
	copy(backward, c.end)
	if sums != nil {
		clear(sums.outer)
	}
	for at := len(unary) - k; ; at -= k {
		floats.AddTo(p, l.forward[at:at+k], backward)
		exponentials(p, p, vector.Max(p))
		vector.Scale(p, factor/vector.Sum(p))
		vector.Add(into[at:at+k], 1, p)
		if at == len(unary)-k && sums != nil {
			vector.Add(sums.end, 1, p)
		}
		if at == 0 {
			break
		}
		c.backward(l, at, unary, backward, next, factor, sums)
		backward, next = next, backward
	}
	if sums != nil {
		vector.Add(sums.start, 1, p)
		for k, sum := range sums.outer {
			sums.pair[k] += c.factor[k] * sum
		}
	}
	return total
}

// forward sets f of every token, less the largest of each, and returns log Z.
func (c *chain) forward(l *lattice, unary []float64) float64 {
	k, forward := c.tags, room(&l.forward, len(unary))
	p, logs := room(&l.row, k), room(&l.next, k)
	floats.AddTo(forward[:k], unary[:k], c.start)
	total := subtractLargest(forward[:k])
	for at := k; at < len(unary); at += k {
		before, now := forward[at-k:at], forward[at:at+k]
		exponentials(p, before, 0)
		clear(now)
		for i, weight := range p {
			if weight != 0 {
				vector.Add(now, weight, c.factor[i*k:i*k+k])
			}
		}
		for j, sum := range now {
			if sum < underflow {
				for i, v := range before {
					logs[i] = v + c.pair[i*k+j]
				}
				now[j] = floats.LogSumExp(logs) + unary[at+j]
			} else {
				now[j] = math.Log(sum) + c.shift + unary[at+j]
			}
		}
		total += subtractLargest(now)
	}
	return total + floats.LogSumExp(floats.AddTo(logs, forward[len(unary)-k:], c.end))
}

// backward takes b from the token at a place to the one before, into next, and adds the expected transitions between.
func (c *chain) backward(l *lattice, at int, unary, backward, next []float64, factor float64, sums *counts) {
	k, p, q := c.tags, room(&l.row, c.tags), room(&l.next, c.tags)
	forward, unary := l.forward[at-k:at], unary[at:at+k]
	top := vector.Max(floats.AddTo(q, unary, backward))
	exponentials(q, q, top)
	exponentials(p, forward, 0)
	norm := 0.0
	for i := range next {
		sum := vector.Dot(c.factor[i*k:i*k+k], q)
		norm += p[i] * sum
		if sum < underflow {
			logs := room(&l.logs, k)
			for j, v := range backward {
				logs[j] = c.pair[i*k+j] + unary[j] + v
			}
			next[i] = floats.LogSumExp(logs) - top
		} else {
			next[i] = math.Log(sum) + c.shift
		}
	}
	switch {
	case sums == nil:
	case norm < underflow:
		logs := make([]float64, k*k)
		for at, pair := range c.pair {
			logs[at] = forward[at/k] + pair + unary[at%k] + backward[at%k]
		}
		total := floats.LogSumExp(logs)
		for at, v := range logs {
			sums.pair[at] += factor * math.Exp(v-total)
		}
	default:
		for i, weight := range p {
			if weight != 0 {
				vector.Add(sums.outer[i*k:i*k+k], factor*weight/norm, q)
			}
		}
	}
}

// subtractLargest subtracts the largest value, which it returns; -Inf leaves them.
func subtractLargest(values []float64) float64 {
	top := vector.Max(values)
	if !math.IsInf(top, -1) {
		floats.AddConst(-top, values)
	}
	return top
}
