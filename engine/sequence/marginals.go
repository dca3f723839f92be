package sequence

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/vector"
)

const underflow = 1e-250 // smaller sums of products are computed again in logarithms

// marginals adds factor times the expected counts under p(y) = exp(s(y) - log Z) to sums and returns log Z, -Inf where
// every path is forbidden; it adds nothing then. Those of tags at tokens go to into [T*K]; sums may be nil.
//
//	Symbols  f_t, b_t [K] logarithms of the forward and backward sums, each less a constant of its token; p = exp(f_t-1),
//	         q = exp(u_t + b_t), E = exp(P). Of each token only K exponentials are taken: Σ_i p_i E_ij is a product with
//	         a matrix that all tokens share, and where it underflows, the sum is made in logarithms
func (c *chain) marginals(l *lattice, unary []float64, factor float64, into []float64, sums *edges) float64 {
	k := c.tags
	total := c.forward(l, unary)
	if math.IsInf(total, -1) {
		return total
	}
	backward, next, p := room(&l.backward, 2*k)[:k], l.backward[k:2*k], room(&l.row, k)
	copy(backward, c.end)
	if sums != nil {
		clear(room(&l.outer, k*k))
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
		floats.Mul(l.outer, c.factor)
		floats.Add(sums.pair, l.outer)
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
func (c *chain) backward(l *lattice, at int, unary, backward, next []float64, factor float64, sums *edges) {
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
			floats.Add(floats.AddTo(logs, c.pair[i*k:i*k+k], unary), backward)
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
		exponentials(logs, logs, floats.LogSumExp(logs))
		vector.Add(sums.pair, factor, logs)
	default:
		for i, weight := range p {
			if weight != 0 {
				vector.Add(l.outer[i*k:i*k+k], factor*weight/norm, q)
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
