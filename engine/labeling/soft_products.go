package labeling

import "github.com/fewlabel/fewlabel/engine/vector"

const (
	// Classes: of more, H is not stored and factored but multiplied with. Without that a whole fit of 300 classes takes
	// 1.08 times as long (8,000 planted rows, annealing).
	mostInMatrix = 256
	productsEta  = 0.03 // conjugate gradients stop at this part of the residual
)

// covariance is H + μ at the p that are there, as an operator on the live classes.
type covariance struct {
	*dual
	mu       float64
	diagonal []float64 // of H + μ [live]
}

func (d *dual) covariance(mu float64) *covariance {
	h := &covariance{dual: d, mu: mu}
	h.diagonal = h.product(func(dst, p []float64, s float64) {
		for y, q := range p {
			dst[y] += s * q * (1 - q)
		}
	})
	for k := range h.diagonal {
		h.diagonal[k] += mu
	}
	return h
}

// HessVec sets dst = (H + μ) x: of a row, p_y (x_y - p'x).
func (h *covariance) HessVec(dst, x []float64) (curvature float64) {
	all := make([]float64, len(h.v))
	for k, y := range h.live {
		all[y] = x[k]
	}
	product := h.product(func(dst, p []float64, s float64) {
		mean, all := vector.Dot(p, all), all[:len(p)]
		for y, q := range p {
			dst[y] += s * q * (all[y] - mean)
		}
	})
	for k := range dst {
		dst[k] = product[k] + h.mu*x[k]
	}
	return vector.Dot(dst, x)
}

// Precondition divides by the diagonal.
func (h *covariance) Precondition(dst, residual []float64) bool {
	for k, r := range residual {
		dst[k] = r / h.diagonal[k]
	}
	return true
}

// product is the mean over the rows, for the live classes, of what add adds for the soft labels of a row of weight s.
func (h *covariance) product(add func(dst, p []float64, s float64)) (means []float64) {
	m := len(h.v)
	sums := make([]float64, m)
	h.job.Sum(len(h.weights), sums, func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			add(dst, h.p[i*m:(i+1)*m], h.weights[i])
		}
	})
	for _, y := range h.live {
		means = append(means, sums[y]/h.weight)
	}
	return means
}
