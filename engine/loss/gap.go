package loss

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// Gap is a loss of the margin between a class and the best of the others.
//
//	Problem  ξ(s, y) = m(t_y), t_y = s_y - 1/ρ log Σ_{k≠y} exp(ρ s_k); without a label u(t_b), b of the largest score
//	Symbols  ρ sharpness: the soft maximum of K-1 scores is at most log(K-1) / ρ above the maximum; q_k the shares of the
//	         classes in that sum
//	Source   Zien, Brefeld & Scheffer 2007, who take (1/ρ) log(1 + Σ_{k≠y} (exp(ρ r_k) - 1)) of the losses r_k = m(s_y -
//	         s_k) of the pairs. Differences: the soft maximum is that of the scores, as ξ is convex then; theirs is not,
//	         for three classes or more
//	Cost     one exp a class
type Gap struct {
	Margin    Margin
	Sharpness float64
}

// At implements Classes for rows of a certain class, and for p = nil: a row without a label. State is ρ |slope of m|
// q_k, and minus the curvature of m at the class itself: see HessVec.
func (l Gap) At(s, p, slope, state []float64) (value float64) {
	y := vector.Largest(s)
	if p != nil {
		y = vector.Largest(p)
	}
	margin, first, second := s[y]-l.others(state, s, y), 0.0, 0.0
	if p != nil {
		value, first, second = l.Margin.At(margin)
	} else {
		value, first = Plateau(margin)
	}
	for k, q := range state {
		slope[k] = -first * q
		state[k] = -first * q * l.Sharpness
	}
	slope[y], state[y] = first, -second
	return value
}

// others puts q into dst, 0 for class y, and returns the soft maximum of the other scores.
func (l Gap) others(dst, s []float64, y int) float64 {
	top, total := math.Inf(-1), 0.0
	for k, v := range s {
		if k != y {
			top = max(top, v)
		}
	}
	for k, v := range s {
		dst[k] = math.Exp(l.Sharpness * (v - top))
		if k == y {
			dst[k] = 0
		}
		total += dst[k]
	}
	vector.Scale(dst, 1/total)
	return top + math.Log(total)/l.Sharpness
}

// HessVec implements Classes: h g gᵀ v + ρ |slope| (diag q - q qᵀ) v, g = e_y - q, h the curvature of m; 0 for u.
func (l Gap) HessVec(v, state []float64) {
	y, total, mean := -1, 0.0, 0.0
	for k, a := range state {
		if a < 0 {
			y = k
		} else {
			total += a
			mean += a * v[k]
		}
	}
	if total == 0 {
		clear(v)
		return
	}
	mean /= total
	product := 0.0
	if y >= 0 {
		product = -state[y] * (v[y] - mean)
	}
	for k, a := range state {
		if v[k] = a * (v[k] - mean - product/total); k == y {
			v[k] = product
		}
	}
}

func (l Gap) Curvature(state []float64) float64 {
	total, h := 0.0, 0.0
	for _, a := range state {
		total += max(0, a)
		h = max(h, -a)
	}
	largest := h
	for _, a := range state {
		if q := a / total; q > 0 {
			largest = max(largest, a*(1-q)+h*q*q)
		}
	}
	return largest
}

// Costs implements Classes. The sum without a class that is not the best is at least 1, so that no digits are lost.
func (l Gap) Costs(dst, s []float64) {
	best := vector.Largest(s)
	others, top, total := l.others(dst, s, best), s[best], 0.0
	for k, v := range s {
		dst[k] = math.Exp(l.Sharpness * (v - top))
		total += dst[k]
	}
	for y, score := range s {
		rest := top + math.Log(total-dst[y])/l.Sharpness
		if y == best {
			rest = others
		}
		dst[y], _, _ = l.Margin.At(score - rest)
	}
}
