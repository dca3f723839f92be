package risk

import "github.com/fewlabel/fewlabel/engine/vector"

// Frame says how a score gets its intercept.
//
//	constant feature  f(x) = x . w + b with b regularized like any weight (Sindhwani & Keerthi 2006). With a center
//	         μ the
//	                  last variable is c = b + μ . w, f(x) = (x - μ) . w + c: the same problem in coordinates in
//	         which c and
//	                  w hardly interact, so that conjugate gradients need about half the steps
//	centred           f(x) = (x - μ) . w + m: the mean score of the rows whose mean is μ is m, whatever w is: the
//	         linear
//	                  balance constraint of Chapelle & Zien 2005 built into the coordinates
//	neither           f(x) = x . w
//
// x - μ is never formed: sparse rows stay sparse.
type Frame struct {
	Constant bool
	Center   []float64 // μ [d] or nil
	Mean     float64   // m; 0 with a constant feature
}

func (f Frame) dim(cols int) int {
	if f.Constant {
		return cols + 1
	}
	return cols
}

// shift is the part of a score's change along p that all rows share: the intercept's change.
func (f Frame) shift(p []float64) float64 {
	total := 0.0
	if f.Constant {
		total = p[len(p)-1]
	}
	if f.Center != nil {
		total -= vector.Dot(f.Center, p[:len(f.Center)])
	}
	return total
}

// offset is the intercept at w.
func (f Frame) offset(w []float64) float64 { return f.shift(w) + f.Mean }

// addTransposed adds what Σ q_i (row i in the frame) has beyond Σ q_i x_i; total = Σ q_i.
func (f Frame) addTransposed(dst []float64, total float64) {
	if f.Constant {
		dst[len(dst)-1] += total
	}
	if f.Center != nil {
		vector.Add(dst[:len(f.Center)], -total, f.Center)
	}
}

// penalize sets dst = α R p, where pᵀ R p is the squared norm of the weights and, if regularized, the intercept.
func (f Frame) penalize(dst, p []float64, alpha float64) {
	for j, v := range p {
		dst[j] = alpha * v
	}
	if f.Constant && f.Center != nil {
		b := alpha * f.shift(p)
		vector.Add(dst[:len(f.Center)], -b, f.Center)
		dst[len(dst)-1] = b
	}
}

// inner is pᵀ R q.
func (f Frame) inner(p, q []float64) float64 {
	if f.Constant && f.Center != nil {
		d := len(f.Center)
		return vector.Dot(p[:d], q[:d]) + f.shift(p)*f.shift(q)
	}
	return vector.Dot(p, q)
}

// steepness is the squared norm of a gradient g, taken in the coordinates (w, b) in which the penalty is a plain norm.
func (f Frame) steepness(g []float64) float64 {
	if !f.Constant || f.Center == nil {
		return vector.Dot(g, g)
	}
	last := g[len(g)-1]
	total := last * last
	for j, mu := range f.Center {
		v := g[j] + mu*last
		total += v * v
	}
	return total
}
