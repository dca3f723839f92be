// Package sequence labels the tokens of sequences: scores of first-order chains, their best paths and marginals, losses
// of whole sequences, and how to learn from them. Start at Fit, then stochastic.go.
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

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// edges are numbers of a chain that belong to no single token, all in one vector.
type edges struct {
	all              []float64
	pair, start, end []float64 // [K*K] from tag i to tag j at i*K+j; [K], [K]
}

func edgesLen(tags int) int { return tags * (tags + 2) }

func edgesOf(all []float64, k int) edges { return edges{all, all[:k*k], all[k*k : k*k+k], all[k*k+k:]} }

func newEdges(tags int) edges { return edgesOf(make([]float64, edgesLen(tags)), tags) }

// chain is a model's scores of transitions, starts and ends.
type chain struct {
	tags int // K
	edges
	allowed []uint8   // [·][K] 0: tokens with the label -2 - row cannot have the tag
	factor  []float64 // [K*K] exp(pair - shift)
	shift   float64   // the largest of pair
}

func newChain(tags int, allowed []uint8) *chain {
	return &chain{tags: tags, edges: newEdges(tags), allowed: allowed, factor: make([]float64, tags*tags)}
}

// refresh makes the chain ready for marginals after its transitions have changed.
func (c *chain) refresh() {
	c.shift = max(slices.Max(c.pair), -math.MaxFloat64) // all may be forbidden
	exponentials(c.factor, c.pair, c.shift)
}

// score is s(y) for the tags of a path; unary [T*K].
func (c *chain) score(unary []float64, path []int32) float64 {
	total := c.start[path[0]] + c.end[path[len(path)-1]]
	for t, y := range path {
		total += unary[t*c.tags+int(y)]
		if t > 0 {
			total += c.pair[int(path[t-1])*c.tags+int(y)]
		}
	}
	return total
}

// withCost gives the unary scores with a cost (-Inf: forbidden) added to wrong tags, until the lattice's next use.
func (c *chain) withCost(l *lattice, unary []float64, labels []int32, cost float64) []float64 {
	costly := room(&l.costly, len(unary))
	copy(costly, unary)
	for t, label := range labels {
		for j := range c.tags {
			if label >= 0 && int(label) != j || label < -1 && c.allowed[int(-2-label)*c.tags+j] == 0 {
				costly[t*c.tags+j] += cost
			}
		}
	}
	return costly
}

// add adds factor for everything that a path has, its tags to into [T*K].
func (n *edges) add(path []int32, factor float64, into []float64) {
	tags := len(n.start)
	n.start[path[0]] += factor
	n.end[path[len(path)-1]] += factor
	for t, y := range path {
		into[t*tags+int(y)] += factor
		if t > 0 {
			n.pair[int(path[t-1])*tags+int(y)] += factor
		}
	}
}

// lattice is the memory for one sequence at a time, of one goroutine.
type lattice struct {
	forward, backward []float64 // [T*K], [K]
	row, next, logs   []float64 // [K]
	from              []int32   // back pointers
	path, second      []int32   // [T]
	unary, into       []float64 // [T*K] scores and their gradient
	costly, expected  []float64 // [T*K] unary scores with a cost added; expected tags
	outer             []float64 // [K*K] Σ_t a_i b_j
	sums              *edges
}

// room lets a slice have a length; it holds anything.
func room[T any](s *[]T, length int) []T {
	*s = slices.Grow((*s)[:0], length)[:length]
	return *s
}

func exponentials(dst, values []float64, shift float64) {
	for j, v := range values {
		dst[j] = math.Exp(v - shift)
	}
}

// best puts the tags of the best path into path [T] and returns its score, -Inf where every path is forbidden. Of equal
// paths it takes the one with the lowest last tag, and so on towards the front.
func (c *chain) best(l *lattice, unary []float64, path []int32) float64 {
	k, from := c.tags, room(&l.from, len(unary))
	score, next := room(&l.row, k), room(&l.next, k)
	floats.AddTo(score, unary[:k], c.start)
	for at := k; at < len(unary); at += k {
		pointers := from[at : at+k]
		clear(pointers)
		for j := range next {
			next[j] = math.Inf(-1)
		}
		for i, before := range score {
			for j, pair := range c.pair[i*k : i*k+k] {
				if s := before + pair; s > next[j] {
					next[j], pointers[j] = s, int32(i)
				}
			}
		}
		floats.Add(next, unary[at:at+k])
		score, next = next, score
	}
	floats.Add(score, c.end)
	last := vector.Largest(score)
	goBack(path, from, k, 1, last)
	return score[last]
}

// goBack fills a path from its last state: from[t*states+s] is the state before s, and perTag states are of one tag.
func goBack(path, from []int32, states, perTag, last int) {
	for t := len(path) - 1; t >= 0; t-- {
		path[t] = int32(last / perTag)
		last = int(from[t*states+last]) // of the first token: anything
	}
}

// two are the scores of a tag's two states at a token, and the states before them.
type two struct {
	a, b         float64
	fromA, fromB int32
}

// rank keeps the two largest of the scores that it is given, the first of equals first.
func (w *two) rank(score float64, from int32) {
	switch {
	case score > w.a:
		w.a, w.b, w.fromA, w.fromB = score, w.a, from, w.fromA
	case score > w.b:
		w.b, w.fromB = score, from
	}
}

// twoBest puts the best path and a second one into best and second [T] and returns their scores, -Inf for none:
// Viterbi's algorithm with two states a tag, 2*tag and 2*tag+1, the best and the second-best path that end there.
func (c *chain) twoBest(l *lattice, unary []float64, best, second []int32) (first, runnerUp float64) {
	k, from := c.tags, room(&l.from, 2*len(unary))
	score, after := room(&l.forward, 4*k)[:2*k], l.forward[2*k:4*k]
	for j := range k {
		score[2*j], score[2*j+1] = unary[j]+c.start[j], math.Inf(-1)
	}
	none := two{a: math.Inf(-1), b: math.Inf(-1)}
	for at := k; at < len(unary); at += k {
		for j := range k {
			top := none
			for state, s := range score {
				top.rank(s+c.pair[state/2*k+j], int32(state))
			}
			u, place := unary[at+j], 2*(at+j)
			after[2*j], after[2*j+1], from[place], from[place+1] = top.a+u, top.b+u, top.fromA, top.fromB
		}
		score, after = after, score
	}
	top := none
	for state, s := range score {
		top.rank(s+c.end[state/2], int32(state))
	}
	goBack(best, from, 2*k, 2, int(top.fromA))
	goBack(second, from, 2*k, 2, int(top.fromB))
	return top.a, top.b
}

type Loss interface {
	// At returns ρ times the loss at the chain's and the unary scores, which are multiplied by the sharpness ρ, and adds
	// its gradient in the scores without the factor: to into [T*K] in the unary ones, to sums in the others. Labels [T]:
	// -1 is a token without one, below -1 one with a set of the chain. The labels must leave a path.
	At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *edges) float64
}

// SoftmaxMargin is the softened largest violation by any path.
//
//	Problem  ξ = 1/ρ [log Σ_y exp ρ(s(y) + Δ(y)) - log Σ_y∈C exp ρ s(y)], where C are the paths with all labels
//	Symbols  Δ the cost of a path, Cost for every wrong tag of a token with a label or a set; ρ the sharpness
//	Source   ρ = 1 without cost: conditional random fields, Lafferty, McCallum & Pereira 2001; with cost: softmax margin,
//	         Gimpel & Smith 2010, equation 5; towards ρ = ∞: the structured hinge, with margin rescaling
//	Cost     forward-backward; a second one where labels are missing
type SoftmaxMargin struct{ Rho, Cost float64 }

func (s SoftmaxMargin) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *edges) float64 {
	total := c.marginals(l, c.withCost(l, unary, labels, s.Rho*s.Cost), 1, into, sums)
	if slices.Min(labels) >= 0 {
		sums.add(labels, -1, into)
		return total - c.score(unary, labels)
	}
	return total - c.marginals(l, c.withCost(l, unary, labels, math.Inf(-1)), -1, into, sums)
}

// ambiguity is the loss of a sequence without labels by the method gradient: the second-best path is near the best one.
//
//	Problem  ξ = C u(t), t = s(y) - s(y'), for the best path y and the second-best one y'
//	Symbols  u 1 up to τ, 0 from 1 on, see loss.Plateau; C the weight, which rises from epoch to epoch
//	Source   Zien, Brefeld & Scheffer 2007, the loss u_{Δ,τ} of ∇TSVM
//	Differences  Δ = 1 for all paths: the loss is continuous where the second best changes. Steps are stochastic
//	Cost     a Viterbi with two states a tag; the gradient has the places only where the two paths differ
type ambiguity struct{ rho, full, weight float64 }

func newAmbiguity(s *sample, _ []int, _, factor float64) belief {
	return &ambiguity{rho: s.loss.Rho, full: factor}
}

func (a *ambiguity) enter(_ weights, part float64) (rest float64) {
	a.weight = part * a.full
	return 0
}

func (a *ambiguity) lossOf(int) Loss { return a }

func (a *ambiguity) At(l *lattice, c *chain, unary []float64, labels []int32, into []float64, sums *edges) float64 {
	best, second := room(&l.path, len(labels)), room(&l.second, len(labels))
	first, runnerUp := c.twoBest(l, unary, best, second)
	if math.IsInf(runnerUp, -1) {
		return 0
	}
	value, slope := loss.Plateau((first - runnerUp) / a.rho)
	sums.add(best, a.weight*slope, into)
	sums.add(second, -a.weight*slope, into)
	return a.rho * a.weight * value
}
