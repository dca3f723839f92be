package vector

import "math"

// Softmax sets p to the softmax of s, which may be p itself, and returns log Σ exp(s).
func Softmax(p, s []float64) (logSum float64) {
	largest, sum := math.Inf(-1), 0.0
	for _, v := range s {
		largest = max(largest, v)
	}
	for y, v := range s {
		p[y] = math.Exp(v - largest)
		sum += p[y]
	}
	for y := range p {
		p[y] /= sum
	}
	return largest + math.Log(sum)
}
