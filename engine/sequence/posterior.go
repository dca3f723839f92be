package sequence

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// posterior regularization: each unlabeled sequence is near a distribution over paths; together these have the prior.
//
//	Problem  Ψ(w) = C/N min over q  Σ_i KL(q_i | p_i) + N μ/2 |m - φ|²  with  m_y = 1/N Σ_i Σ_t q_i(y_t = y)
//	Symbols  i unlabeled sequences of N tokens together; p_i the chain's distribution over paths at the weights w; φ the
//	         class prior [K]; μ the penalty weight; m shares [K]; v [K] dual variables
//	Source   Ganchev, Graça, Gillenwater & Taskar 2010, sections 2.3 and 3.2 (posterior regularization, soft constraints)
//	Dual     max over v of φ·v - 1/N Σ_i [log Z_i(v) - log Z_i(0)] - |v|²/2μ, where Z_i(v) sums over the paths with v
//	         added to the unary scores of every token: q_i is the chain with these. It is strongly concave
//	Differences  shares of tokens, not of sentences; one epoch of steps at a q, which then is found anew
//	Stops    the dual: |(φ - m - v/μ) / √φ| <= dualTolerance
//	Cost     a dual step: a forward-backward of the unlabeled sequences; N K numbers
type posterior struct {
	*sample
	sequences []int
	tokens    float64   // N
	weight    float64   // C/N in units of a loss
	scores    []float64 // [tokens*K] unary scores at the last enter, of all tokens; then with v
	chain     *chain    // at the last enter
	base      float64   // Σ log Z_i(0)
	memory    [blocks]lattice
}

const (
	dualTolerance = 1e-3 // of a share, in units of its root
	dualSteps     = 200
	dualPairs     = 8 // of differences that L-BFGS keeps
)

func newPosterior(s *sample, unlabeled []int, tokens, factor float64) belief {
	return &posterior{sample: s, sequences: unlabeled, tokens: tokens, weight: factor, chain: newChain(s.tags, s.allowed),
		scores: make([]float64, len(s.labels)*s.tags)}
}

func (p *posterior) each(do func(b, i int, l *lattice)) {
	p.Run(blocks, func(b int) {
		first, end := part(b, blocks, len(p.sequences))
		for _, i := range p.sequences[first:end] {
			p.Check()
			do(b, i, &p.memory[b])
		}
	})
}

func (p *posterior) enter(at weights, _ float64) (rest float64) {
	p.setChain(p.chain, at.chain)
	p.each(func(_, i int, l *lattice) {
		wide := room(&l.into, p.span(i).Len()*p.shape.Stride())
		p.span(i).TimesPanels(p.Rows, wide, at.coef, p.shape)
		p.sharpen(p.scoresOf(i), wide)
	})
	v := make([]float64, p.tags)
	p.base = p.partitions(v, make([]float64, p.tags))
	search := minimize.QuasiNewton{Memory: dualPairs, MaxSteps: dualSteps,
		Enough: func(_ int, _, norm float64) bool { return norm <= dualTolerance }}
	search.Minimize(p, v)
	for y, share := range p.prior {
		v[y] /= math.Sqrt(share)
	}
	p.addToScores(v)
	return p.weight * p.tokens * vector.Dot(v, v) / (2 * p.options.PenaltyWeight) / p.loss.Rho // N μ/2 |v/μ|²
}

func (p *posterior) addToScores(v []float64) {
	for _, i := range p.sequences {
		for token := range slices.Chunk(p.scoresOf(i), p.tags) {
			vector.Add(token, 1, v)
		}
	}
}

func (p *posterior) scoresOf(i int) []float64 {
	return p.scores[p.bounds[i]*p.tags : p.bounds[i+1]*p.tags]
}

// partitions returns Σ_i log Z_i(v) and sets sums to the expected tags.
func (p *posterior) partitions(v, sums []float64) float64 {
	var totals [blocks]float64
	parts := make([]float64, blocks*p.tags)
	p.each(func(b, i int, l *lattice) {
		u := p.scoresOf(i)
		shifted, into := room(&l.unary, len(u)), room(&l.into, len(u))
		clear(into)
		for t := range u {
			shifted[t] = u[t] + v[t%p.tags]
		}
		totals[b] += p.chain.marginals(l, shifted, 1, into, nil)
		for token := range slices.Chunk(into, p.tags) {
			vector.Add(parts[b*p.tags:(b+1)*p.tags], 1, token)
		}
	})
	clear(sums)
	for block := range slices.Chunk(parts, p.tags) {
		vector.Add(sums, 1, block)
	}
	return vector.Sum(totals[:])
}

// At is the negative of the dual as a function of v √φ, in which it is better conditioned.
func (p *posterior) At(at, gradient []float64) float64 {
	dual := make([]float64, p.tags)
	for y, share := range p.prior {
		dual[y] = at[y] / math.Sqrt(share)
	}
	value := (p.partitions(dual, gradient) - p.base) / p.tokens
	for y, v := range dual {
		gradient[y] = (gradient[y]/p.tokens - p.prior[y] + v/p.options.PenaltyWeight) / math.Sqrt(p.prior[y])
		value += v * (v/(2*p.options.PenaltyWeight) - p.prior[y])
	}
	return value
}

func (p *posterior) lossOf(i int) Loss { return divergence{p.weight, p.scoresOf(i), p.chain} }

// divergence is C KL(q | p) from the distribution q over paths that a chain has with unary scores.
type divergence struct {
	weight float64
	scores []float64 // [T*K]
	chain  *chain
}

// At implements Loss: KL(q | p) = log Z_p - log Z_q + E_q[s_q - s_p], for the scores s_q, s_p of paths.
func (n divergence) At(l *lattice, c *chain, unary []float64, _ []int32, into []float64, sums *edges) float64 {
	tags := room(&l.expected, len(unary))
	clear(tags)
	if l.sums == nil {
		l.sums = new(newEdges(c.tags))
	}
	clear(l.sums.all)
	value := c.marginals(l, unary, n.weight, into, sums) - n.chain.marginals(l, n.scores, 1, tags, l.sums)
	for _, e := range [][3][]float64{{tags, n.scores, unary}, {l.sums.pair, n.chain.pair, c.pair},
		{l.sums.start, n.chain.start, c.start}, {l.sums.end, n.chain.end, c.end}} {
		value += expectedDifference(e[0], e[1], e[2])
	}
	vector.Add(into, -n.weight, tags)
	vector.Add(sums.all, -n.weight, l.sums.all)
	return n.weight * value
}

// expectedDifference is Σ count (a - b); both are -Inf where a transition is forbidden, and the count is 0.
func expectedDifference(counts, a, b []float64) (sum float64) {
	for k, count := range counts {
		if count != 0 {
			sum += count * (a[k] - b[k])
		}
	}
	return sum
}
