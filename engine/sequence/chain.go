// Package sequence labels the tokens of sequences: scores of first-order chains, their best paths and marginals, losses
// of whole sequences, and two ways to learn from them. Start at Fit, then stochastic.go.
//
// # Chains
//
//	Problem  the score of the tags y_1 ... y_T of a sequence,
//	         s(y) = Σ_t u_t[y_t] + Σ_t>1 P[y_t-1, y_t] + a[y_1] + e[y_T]
//	Symbols  T tokens, K tags; u = x_t W [T, K] unary scores; P [K, K] transitions, from row to column; a, e [K] start
//	         and end. A score of -Inf forbids: a transition for all sequences, a tag at a token for one
//	Source   Viterbi 1967; Rabiner 1989, section III (forward-backward); Lafferty, McCallum & Pereira 2001
//	Cost     K² operations a token, T K numbers of memory; nothing has the size T K K
package sequence

import "math"

// Chain is what the scores of all sequences share.
type Chain struct {
	Tags       int       // K
	Pair       []float64 // [K*K] from tag i to tag j at i*K+j
	Start, End []float64 // [K]

	factor []float64 // [K*K] exp(Pair - shift)
	shift  float64   // the largest of Pair
}

// NewChain makes a chain whose scores are all 0.
func NewChain(tags int) *Chain {
	return &Chain{Tags: tags, Pair: make([]float64, tags*tags), Start: make([]float64, tags), End: make([]float64, tags),
		factor: make([]float64, tags*tags)}
}

// Refresh makes the chain ready for marginals after its transitions have changed.
func (c *Chain) Refresh() {
	c.shift = largest(c.Pair)
	if math.IsInf(c.shift, -1) {
		c.shift = 0
	}
	for k, score := range c.Pair {
		c.factor[k] = math.Exp(score - c.shift)
	}
}

// Score is s(y) for the tags of a path; unary [T*K].
func (c *Chain) Score(unary []float64, path []int32) float64 {
	if len(path) == 0 {
		return 0
	}
	total := c.Start[path[0]] + c.End[path[len(path)-1]]
	for t, y := range path {
		total += unary[t*c.Tags+int(y)]
		if t > 0 {
			total += c.Pair[int(path[t-1])*c.Tags+int(y)]
		}
	}
	return total
}

// Lattice is the memory for one sequence at a time: a goroutine has one of its own.
type Lattice struct {
	forward, backward []float64 // [T*K], [K]
	row, other        []float64 // [K]
	from              []int32   // back pointers
	path, spare       []int32   // [T]
	masked, cost      []float64 // [T*K] unary scores with labels or costs put in
	soft              *Counts
}

// room lets a slice have a length; it holds anything.
func room[T any](s *[]T, length int) []T {
	if cap(*s) < length {
		*s = make([]T, length+length/4)
	}
	return (*s)[:length]
}

// largest is the largest entry.
func largest(values []float64) float64 {
	most := math.Inf(-1)
	for _, v := range values {
		if v > most {
			most = v
		}
	}
	return most
}
