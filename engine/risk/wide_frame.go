package risk

import (
	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// wideFrame is a Frame for the weights of many classes (or nodes of a class tree): each has its own intercept. With a
// constant feature the last feature of the shape is that one. See Frame for the formulas; R acts on every class alike.
type wideFrame struct {
	constant bool
	center   []float64 // μ [d] or nil
	shape    csr.Wide
}

// turned says that the intercepts depend on all variables.
func (f wideFrame) turned() bool { return f.constant && f.center != nil }

// features is the number of features without the constant one.
func (f wideFrame) features() int {
	if f.constant {
		return f.shape.Features - 1
	}
	return f.shape.Features
}

// walk calls each for stripes of features in every panel: the weights of features lo ... hi-1 of the panel that begins
// with class first stand at start, width a feature.
func (f wideFrame) walk(lo, hi int, each func(lo, hi, start, width, first int)) {
	for b := range f.shape.Panels() {
		start, width := f.shape.Panel(b)
		each(lo, hi, start+lo*width, width, b*8)
	}
}

// shift puts into dst [stride] what all scores of a class have in common along p: the change of its intercept.
func (f wideFrame) shift(pool *work.Pool, dst, p []float64) {
	clear(dst)
	if f.center != nil {
		pool.Total(f.features(), dst, func(lo, hi int, part []float64) { f.addCenter(part, p, lo, hi) })
	}
	f.shifted(dst, p)
}

// addCenter adds Σ_j μ_j p_jy over the features lo ... hi-1 to dst [stride].
func (f wideFrame) addCenter(dst, p []float64, lo, hi int) {
	f.walk(lo, hi, func(lo, hi, start, width, first int) {
		sums := dst[first : first+width]
		for _, mu := range f.center[lo:hi] {
			for c, v := range p[start : start+width] {
				sums[c] += mu * v
			}
			start += width
		}
	})
}

// shifted turns μ . p of every class into the shift.
func (f wideFrame) shifted(dst, p []float64) {
	for y := range dst {
		dst[y] = -dst[y]
		if f.constant {
			dst[y] += p[f.shape.At(f.shape.Features-1, y)]
		}
	}
}

// open sets dst = α p, puts the shift of p into shift [stride], and returns pᵀ R p; see Frame.
func (f wideFrame) open(pool *work.Pool, dst, p []float64, alpha float64, shift []float64) (square float64) {
	stride := f.shape.Stride()
	sums := make([]float64, 1+stride) // p . p without the constant feature, μ . p
	pool.Total(f.features(), sums, func(lo, hi int, part []float64) {
		f.walk(lo, hi, func(lo, hi, start, width, _ int) {
			end := start + (hi-lo)*width
			for k, v := range p[start:end] {
				dst[start+k] = alpha * v
			}
			part[0] += vector.Dot(p[start:end], p[start:end])
		})
		if f.center != nil {
			f.addCenter(part[1:], p, lo, hi)
		}
	})
	copy(shift, sums[1:])
	f.shifted(shift, p)
	square = sums[0]
	if f.constant {
		for y := range shift {
			square += shift[y] * shift[y] // with or without a center the shift is the regularized intercept
			dst[f.shape.At(f.shape.Features-1, y)] = alpha * shift[y]
		}
	}
	return square
}

// shut adds to dst what open and the sums over rows have left out; total [stride] = Σ q_iy.
func (f wideFrame) shut(pool *work.Pool, dst []float64, alpha float64, shift, total []float64) {
	stride := f.shape.Stride()
	scale := make([]float64, stride)
	for y := range scale {
		scale[y] = total[y]
		if f.turned() {
			scale[y] += alpha * shift[y]
		}
		if f.constant {
			dst[f.shape.At(f.shape.Features-1, y)] += total[y]
		}
	}
	if f.center == nil {
		return
	}
	pool.Stripes(f.features(), func(lo, hi int) {
		f.walk(lo, hi, func(lo, hi, start, width, first int) {
			scales := scale[first : first+width]
			for _, mu := range f.center[lo:hi] {
				for c, s := range scales {
					dst[start+c] -= mu * s
				}
				start += width
			}
		})
	})
}

// inner is pᵀ R q; the shifts are those of p and q.
func (f wideFrame) inner(pool *work.Pool, p, q, shiftP, shiftQ []float64) float64 {
	var sums [1]float64
	pool.Total(f.features(), sums[:], func(lo, hi int, part []float64) {
		f.walk(lo, hi, func(lo, hi, start, width, _ int) {
			end := start + (hi-lo)*width
			part[0] += vector.Dot(p[start:end], q[start:end])
		})
	})
	if f.constant {
		for y := range shiftP {
			sums[0] += shiftP[y] * shiftQ[y]
		}
	}
	return sums[0]
}

// steepness is the squared norm of a gradient g in the coordinates in which the penalty is a plain norm; see Frame.
func (f wideFrame) steepness(pool *work.Pool, g []float64) float64 {
	last := make([]float64, f.shape.Stride())
	if f.constant {
		for y := range last {
			last[y] = g[f.shape.At(f.shape.Features-1, y)]
		}
	}
	var sums [1]float64
	pool.Total(f.features(), sums[:], func(lo, hi int, part []float64) {
		f.walk(lo, hi, func(lo, hi, start, width, first int) {
			for j := lo; j < hi; j++ {
				for c, v := range g[start : start+width] {
					if f.turned() {
						v += f.center[j] * last[first+c]
					}
					part[0] += v * v
				}
				start += width
			}
		})
	})
	return sums[0] + vector.Dot(last, last)
}

// spread sets dst = scale src, less total_y μ for class y, plus total_y at the constant feature: what Σ q_i (row i in
// the frame) with Σ q_i = total_y has beyond Σ q_i x_i.
func (f wideFrame) spread(pool *work.Pool, dst, src []float64, scale float64, total []float64) {
	pool.Stripes(f.features(), func(lo, hi int) {
		f.walk(lo, hi, func(lo, hi, start, width, first int) {
			totals := total[first : first+width]
			for j := lo; j < hi; j++ {
				mu := 0.0
				if f.center != nil {
					mu = f.center[j]
				}
				for c, t := range totals {
					dst[start+c] = scale*src[start+c] - mu*t
				}
				start += width
			}
		})
	})
	if f.constant {
		for y, t := range total {
			k := f.shape.At(f.shape.Features-1, y)
			dst[k] = scale*src[k] + t
		}
	}
}
