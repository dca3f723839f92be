package sequence

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// Counts are the expected numbers of what a path has beside its tags: of each transition, start and end.
type Counts struct {
	Pair       []float64 // [K*K]
	Start, End []float64 // [K]

	outer []float64 // [K*K] Σ_t a_i b_j of the sequence under way
}

// NewCounts makes counts of 0.
func NewCounts(tags int) *Counts {
	return &Counts{Pair: make([]float64, tags*tags), Start: make([]float64, tags), End: make([]float64, tags),
		outer: make([]float64, tags*tags)}
}

// underflow is where products of exponentials are so small that the sum is made again in logarithms.
const underflow = 1e-250

// Marginals adds factor times the expected counts under p(y) = exp(s(y) - log Z) to counts and returns log Z, -Inf
// where every path is forbidden; it adds nothing then. Those of tags at tokens go to into [T*K]; counts may be nil.
//
//	Symbols  α_t, β_t [K] logarithms of the forward and backward sums, each less a constant of its token; a = exp(α_t-1),
//	         b = exp(u_t + β_t), E = exp(P). Of each token only K exponentials are taken: Σ_i a_i E_ij is a product with
//	         a matrix that all tokens share, and where it underflows, the sum is made in logarithms
func (c *Chain) Marginals(l *Lattice, unary []float64, factor float64, into []float64, counts *Counts) float64 {
	k := c.Tags
	total := c.forward(l, unary)
	if math.IsInf(total, -1) {
		return total
	}
	beta, next := room(&l.backward, 2*k)[:k], l.backward[k:2*k]
	copy(beta, c.End)
	a, b := room(&l.row, k), room(&l.other, k)
	if counts != nil {
		clear(counts.outer)
	}
	for at := len(unary) - k; ; at -= k {
		p := into[at : at+k]
		c.posterior(l.forward[at:at+k], beta, factor, a)
		vector.Add(p, 1, a)
		if at == len(unary)-k && counts != nil {
			vector.Add(counts.End, 1, a)
		}
		if at == 0 {
			break
		}
		c.backward(l.forward[at-k:at], unary[at:at+k], beta, next, a, b, factor, counts)
		beta, next = next, beta
	}
	if counts != nil {
		vector.Add(counts.Start, 1, a)
		for k, sum := range counts.outer {
			counts.Pair[k] += c.factor[k] * sum
		}
	}
	return total
}

// forward sets α of every token, less the largest of each, and returns log Z.
func (c *Chain) forward(l *Lattice, unary []float64) float64 {
	k, alpha := c.Tags, room(&l.forward, len(unary))
	l.forward = alpha
	a := room(&l.row, k)
	c.open(alpha[:k], unary)
	total := level(alpha[:k])
	for at := k; at < len(unary); at += k {
		before, now := alpha[at-k:at], alpha[at:at+k]
		exponentials(a, before, 0)
		clear(now)
		for i, weight := range a {
			if weight != 0 {
				vector.Add(now, weight, c.factor[i*k:i*k+k])
			}
		}
		for j, sum := range now {
			if sum < underflow {
				now[j] = c.sumInto(before, j) + unary[at+j]
			} else {
				now[j] = math.Log(sum) + c.shift + unary[at+j]
			}
		}
		total += level(now)
	}
	last := room(&l.other, k)
	for j, v := range alpha[len(alpha)-k:] {
		last[j] = v + c.End[j]
	}
	return total + logSum(last)
}

// backward takes β from a token to the one before, adding the expected transitions between the two.
func (c *Chain) backward(alpha, unary, beta, next, a, b []float64, factor float64, counts *Counts) {
	k := c.Tags
	for j := range b {
		b[j] = unary[j] + beta[j]
	}
	most := largest(b)
	exponentials(b, b, most)
	exponentials(a, alpha, 0)
	norm := 0.0
	for i := range next {
		sum := vector.Dot(c.factor[i*k:i*k+k], b)
		norm += a[i] * sum
		if sum < underflow {
			next[i] = c.sumFrom(i, unary, beta) - most
		} else {
			next[i] = math.Log(sum) + c.shift
		}
	}
	if counts == nil {
		return
	}
	if norm < underflow {
		c.pairsInLogs(alpha, unary, beta, factor, counts)
		return
	}
	for i, weight := range a {
		if weight != 0 {
			vector.Add(counts.outer[i*k:i*k+k], factor*weight/norm, b)
		}
	}
}

// pairsInLogs adds the expected transitions between two tokens where products of exponentials underflow.
func (c *Chain) pairsInLogs(alpha, unary, beta []float64, factor float64, counts *Counts) {
	k := c.Tags
	logs := make([]float64, k*k)
	for i := range k {
		for j := range k {
			logs[i*k+j] = alpha[i] + c.Pair[i*k+j] + unary[j] + beta[j]
		}
	}
	total := logSum(logs)
	for at, v := range logs {
		counts.Pair[at] += factor * math.Exp(v-total)
	}
}

// posterior sets p to factor times the probabilities of a token's tags.
func (c *Chain) posterior(alpha, beta []float64, factor float64, p []float64) {
	for j := range p {
		p[j] = alpha[j] + beta[j]
	}
	exponentials(p, p, largest(p))
	vector.Scale(p, factor/vector.Sum(p))
}

// sumInto is log Σ_i exp(α_i + P_ij).
func (c *Chain) sumInto(alpha []float64, j int) float64 {
	most := math.Inf(-1)
	for i, v := range alpha {
		most = max(most, v+c.Pair[i*c.Tags+j])
	}
	if math.IsInf(most, -1) {
		return most
	}
	sum := 0.0
	for i, v := range alpha {
		sum += math.Exp(v + c.Pair[i*c.Tags+j] - most)
	}
	return most + math.Log(sum)
}

// sumFrom is log Σ_j exp(P_ij + u_j + β_j).
func (c *Chain) sumFrom(i int, unary, beta []float64) float64 {
	most := math.Inf(-1)
	for j, v := range beta {
		most = max(most, c.Pair[i*c.Tags+j]+unary[j]+v)
	}
	if math.IsInf(most, -1) {
		return most
	}
	sum := 0.0
	for j, v := range beta {
		sum += math.Exp(c.Pair[i*c.Tags+j] + unary[j] + v - most)
	}
	return most + math.Log(sum)
}

// exponentials sets dst to exp(v - shift).
func exponentials(dst, values []float64, shift float64) {
	for j, v := range values {
		dst[j] = math.Exp(v - shift)
	}
}

// level subtracts the largest value, which it returns; -Inf leaves them.
func level(values []float64) float64 {
	most := largest(values)
	if !math.IsInf(most, -1) {
		for j := range values {
			values[j] -= most
		}
	}
	return most
}

// logSum is log Σ exp(v).
func logSum(values []float64) float64 {
	most := largest(values)
	if math.IsInf(most, -1) {
		return most
	}
	sum := 0.0
	for _, v := range values {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}
