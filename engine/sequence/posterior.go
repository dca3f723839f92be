package sequence

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// posterior is the belief of posterior regularization: each unlabeled sequence is near a distribution over paths, and
// together these have the class prior.
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
	free    []int
	tokens  float64   // N
	weight  float64   // C/N in units of a loss
	prior   []float64 // φ
	scores  []float64 // [tokens*K] unary scores at the last enter, of all tokens; then with v
	chain   *Chain    // then
	base    float64   // Σ log Z_i(0)
	penalty float64   // at the last enter
	workers [blocks]worker
	cuts    []int // [blocks+1] of free
}

const (
	dualTolerance = 1e-3 // of a share, in units of its root
	dualSteps     = 200
)

func newPosterior(s *sample, free []int, factor float64) *posterior {
	p := &posterior{sample: s, free: free, weight: factor, prior: s.prior,
		scores: make([]float64, len(s.labels)*s.tags), chain: NewChain(s.tags)}
	for _, i := range free {
		p.tokens += float64(s.span(i).Len())
	}
	for b := range blocks + 1 {
		p.cuts = append(p.cuts, b*len(free)/blocks)
	}
	return p
}

// enter finds q at the weights of d.
func (p *posterior) enter(d *stochastic, _ float64) {
	p.chainAt(p.chain, d.w)
	p.Run(blocks, func(b int) {
		w := &p.workers[b]
		for _, i := range p.free[p.cuts[b]:p.cuts[b+1]] {
			p.Check()
			wide := room(&w.into, p.span(i).Len()*p.shape.Stride())
			w.into = wide
			p.rows.SpanTimesPanels(p.span(i), wide, d.w.coef, p.shape)
			p.narrow(p.unary(i), wide)
		}
	})
	v := make([]float64, p.tags)
	p.base = p.partitions(v, make([]float64, p.tags))
	search := minimize.QuasiNewton{Pool: p.Pool, Memory: pairs, MaxSteps: dualSteps,
		Enough: func(_ int, _, norm float64) bool { return norm <= dualTolerance }}
	search.Minimize(dual{p, make([]float64, p.tags)}, v)
	for y, share := range p.prior {
		v[y] /= math.Sqrt(share)
	}
	p.penalty = p.weight * p.tokens * vector.Dot(v, v) / (2 * p.options.PenaltyWeight) // N μ/2 |v/μ|²
	for _, i := range p.free {
		u := p.unary(i)
		for t := 0; t < len(u); t += p.tags {
			vector.Add(u[t:t+p.tags], 1, v)
		}
	}
}

// unary is the scores of sequence i at the last enter.
func (p *posterior) unary(i int) []float64 {
	return p.scores[p.bounds[i]*p.tags : p.bounds[i+1]*p.tags]
}

// partitions returns Σ_i log Z_i(v) and sets sums to the expected tags.
func (p *posterior) partitions(v, sums []float64) float64 {
	var totals [blocks]float64
	parts := make([]float64, blocks*p.tags)
	p.Run(blocks, func(b int) {
		w, part := &p.workers[b], parts[b*p.tags:(b+1)*p.tags]
		for _, i := range p.free[p.cuts[b]:p.cuts[b+1]] {
			p.Check()
			u := p.unary(i)
			shifted, into := room(&w.unary, len(u)), room(&w.into, len(u))
			w.unary, w.into = shifted, into
			clear(into)
			for t := range u {
				shifted[t] = u[t] + v[t%p.tags]
			}
			totals[b] += p.chain.Marginals(&w.Lattice, shifted, 1, into, nil)
			for t := 0; t < len(u); t += p.tags {
				vector.Add(part, 1, into[t:t+p.tags])
			}
		}
	})
	clear(sums)
	for b := range blocks {
		vector.Add(sums, 1, parts[b*p.tags:(b+1)*p.tags])
	}
	return vector.Sum(totals[:])
}

// dual is the negative of the dual as a function of v √φ, in which it is better conditioned.
type dual struct {
	*posterior
	v []float64
}

// At implements minimize.Smooth.
func (d dual) At(at, gradient []float64) float64 {
	for y, share := range d.prior {
		d.v[y] = at[y] / math.Sqrt(share)
	}
	value := (d.partitions(d.v, gradient) - d.base) / d.tokens
	for y, mean := range gradient {
		v := d.v[y]
		gradient[y] = (mean/d.tokens - d.prior[y] + v/d.options.PenaltyWeight) / math.Sqrt(d.prior[y])
		value += v * (v/(2*d.options.PenaltyWeight) - d.prior[y])
	}
	return value
}

func (p *posterior) rest() float64 { return p.penalty / p.sample.loss.Sharpness() }

func (p *posterior) loss(i int) Loss {
	return nearby{p.sample.loss.Sharpness(), p.weight, p.unary(i), p.chain}
}

// nearby is the divergence from the distribution q over paths that a chain has with unary scores, C KL(q | p).
type nearby struct {
	rho, weight float64
	scores      []float64 // [T*K]
	chain       *Chain
}

// Sharpness implements Loss.
func (n nearby) Sharpness() float64 { return n.rho }

// At implements Loss: KL(q | p) = log Z_p - log Z_q + E_q[s_q - s_p], for the scores s_q, s_p of paths.
func (n nearby) At(l *Lattice, c *Chain, unary []float64, _ []int32, into []float64, counts *Counts) float64 {
	q := room(&l.cost, len(unary))
	l.cost = q
	clear(q)
	if l.soft == nil {
		l.soft = NewCounts(c.Tags)
	}
	l.soft.clear()
	value := c.Marginals(l, unary, n.weight, into, counts) - n.chain.Marginals(l, n.scores, 1, q, l.soft)
	for _, part := range [][4][]float64{
		{q, n.scores, unary, into}, {l.soft.Pair, n.chain.Pair, c.Pair, counts.Pair},
		{l.soft.Start, n.chain.Start, c.Start, counts.Start}, {l.soft.End, n.chain.End, c.End, counts.End},
	} {
		value += expected(part[0], part[1], part[2])
		vector.Add(part[3], -n.weight, part[0])
	}
	return n.weight * value
}

// expected is Σ count (a - b); both are -Inf where a transition is forbidden, and the count is 0.
func expected(counts, a, b []float64) (sum float64) {
	for k, count := range counts {
		if count != 0 {
			sum += count * (a[k] - b[k])
		}
	}
	return sum
}
