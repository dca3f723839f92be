package risk

import (
	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Frame is how a score gets its intercept.
//
//	constant feature  f(x) = x . w + b with b regularized like any weight (Sindhwani & Keerthi 2006). With a center
//	                  μ the last variable is c = b + μ . w, f(x) = (x - μ) . w + c: the same problem in coordinates
//	                  in which c and w hardly interact, so that conjugate gradients need about half the steps
//	centred           f(x) = (x - μ) . w + m: the mean score of the rows whose mean is μ is m, whatever w is: the
//	                  linear balance constraint of Chapelle & Zien 2005 built into the coordinates
//	neither           f(x) = x . w
//
// x - μ is never formed: sparse rows stay sparse. The penalty of a vector p is α pᵀ R p, the squared norm of its
// weights and, if regularized, its intercept. With a constant feature and a center, R p = (p - b μ, b), b = c - μ . p.
type Frame struct {
	Constant bool
	Center   []float64 // μ [d] or nil
	Mean     []float64 // m [outputs], with a center and no constant feature; or nil
}

// frame is a Frame for weights of a shape, with an intercept for every column; a constant feature is the last one.
type frame struct {
	Frame
	shape panel.Shape
}

// coupledIntercepts reports whether the intercepts depend on all variables.
func (f frame) coupledIntercepts() bool { return f.Constant && f.Center != nil }

// features is the number of features without the constant one.
func (f frame) features() int {
	if f.Constant {
		return f.shape.Features - 1
	}
	return f.shape.Features
}

// last is the place of the constant feature's weight for a class.
func (f frame) last(class int) int { return f.shape.At(f.shape.Features-1, class) }

// walk calls each for every panel: the weights of the features lo ... hi-1 begin at start and end before end.
func (f frame) walk(lo, hi int, each func(panel panel.Panel, start, end int)) {
	for b := range f.shape.Panels() {
		panel := f.shape.Panel(b)
		each(panel, panel.Start+lo*panel.Stride, panel.Start+hi*panel.Stride)
	}
}

// shift [stride] is what all scores of a class have in common along p: the change of its intercept.
func (f frame) shift(pool *work.Pool, p []float64) []float64 {
	shift := make([]float64, f.shape.Stride())
	if f.Center != nil {
		pool.Total(f.features(), shift, func(lo, hi int, part []float64) { // μ . p
			f.walk(lo, hi, func(panel panel.Panel, start, end int) {
				sums := make([]float64, panel.Stride)
				vector.AddProduct(sums, f.Center[lo:hi], p[start:end])
				vector.Add(part[panel.First:panel.First+panel.Width], 1, sums)
			})
		})
	}
	for y := range shift {
		shift[y] = -shift[y]
		if f.Constant {
			shift[y] += p[f.last(y)]
		}
	}
	return shift
}

// beginProduct sets dst = α p and returns the shift of p [stride]; see Frame.
func (f frame) beginProduct(pool *work.Pool, dst, p []float64, alpha float64) (shift []float64) {
	scaleTo(pool, dst, alpha, p)
	shift = f.shift(pool, p)
	if f.Constant {
		for y, v := range shift { // with or without a center the regularized intercept
			dst[f.last(y)] = alpha * v
		}
	}
	return shift
}

func scaleTo(pool *work.Pool, dst []float64, scale float64, src []float64) {
	pool.Stripes(len(dst), func(lo, hi int) { floats.ScaleTo(dst[lo:hi], scale, src[lo:hi]) })
}

// finishProduct adds to dst what beginProduct and the sums over rows have left out; total [stride] = Σ q_iy.
func (f frame) finishProduct(pool *work.Pool, dst []float64, alpha float64, shift, total []float64) {
	scale := make([]float64, f.shape.Stride())
	for y := range scale {
		scale[y] = -total[y]
		if f.coupledIntercepts() {
			scale[y] -= alpha * shift[y]
		}
		if f.Constant {
			dst[f.last(y)] += total[y]
		}
	}
	if f.Center == nil {
		return
	}
	pool.Stripes(f.features(), func(lo, hi int) {
		f.walk(lo, hi, func(panel panel.Panel, start, end int) {
			scales := make([]float64, panel.Stride)
			copy(scales, scale[panel.First:panel.First+panel.Width])
			vector.AddOuter(dst[start:end], f.Center[lo:hi], scales)
		})
	})
}

// inner is pᵀ R q; the shifts are those of p and q.
func (f frame) inner(pool *work.Pool, p, q, shiftP, shiftQ []float64) float64 {
	var sums [1]float64
	pool.Total(f.features(), sums[:], func(lo, hi int, part []float64) {
		f.walk(lo, hi, func(_ panel.Panel, start, end int) {
			part[0] += vector.Dot(p[start:end], q[start:end])
		})
	})
	if f.Constant {
		for y := range shiftP {
			sums[0] += shiftP[y] * shiftQ[y]
		}
	}
	return sums[0]
}

// gradientNorm is the squared norm of a gradient g in the coordinates in which the penalty is a plain norm; see Frame.
func (f frame) gradientNorm(pool *work.Pool, g []float64) float64 {
	last := make([]float64, f.shape.Stride())
	if f.Constant {
		for y := range last {
			last[y] = g[f.last(y)]
		}
	}
	var sums [1]float64
	pool.Total(f.features(), sums[:], func(lo, hi int, part []float64) {
		f.walk(lo, hi, func(panel panel.Panel, start, end int) {
			if !f.coupledIntercepts() {
				part[0] += vector.Dot(g[start:end], g[start:end])
				return
			}
			if panel.Stride == 1 {
				part[0] += vector.SquareOfSum(g[start:end], last[panel.First], f.Center[lo:hi])
				return
			}
			for _, mu := range f.Center[lo:hi] {
				for c, v := range g[start : start+panel.Width] {
					v += mu * last[panel.First+c]
					part[0] += v * v
				}
				start += panel.Stride
			}
		})
	})
	return sums[0] + vector.Dot(last, last)
}

// spread sets dst = scale src and adds what Σ q_i (row i in the frame) with Σ q_i = total_y has beyond Σ q_i x_i.
func (f frame) spread(pool *work.Pool, dst, src []float64, scale float64, total []float64) {
	scaleTo(pool, dst, scale, src)
	f.finishProduct(pool, dst, 0, total, total)
}

// linear is what rows and weights give each other: stored scores of rows along a vector of weights, and sums of rows.
type linear struct {
	job  *work.Job
	rows *rows.Matrix
	Map  *scores.Tree
	frame
	rounding *rows.Rounded // rounded products, or nil
}

// times puts the stored scores along p into dst; shift is that of p, and mean [outputs] is added, or nil.
func (l *linear) times(on *rows.Subset, dst, p, shift, mean []float64, rounded bool) {
	l.job.CountAndCheck(int64(on.NonZeros()))
	if rounded {
		l.rounding.Times(l.job, on, dst, p)
	} else {
		l.rows.TimesPanels(l.job, on, dst, p, l.shape)
	}
	shift = append([]float64(nil), shift...)
	if l.Map.Flat() {
		floats.Add(shift[:len(mean)], mean)
		mean = nil
	}
	rows := on.Rows()
	l.job.Stripes(len(rows), func(lo, hi int) { l.completeRows(rows[lo:hi], dst, shift, mean) })
}

func (l *linear) completeRows(rows []int32, dst, shift, mean []float64) {
	stride, flat := l.shape.Stride(), l.Map.Flat()
	for _, i := range rows {
		row := dst[int(i)*stride : (int(i)+1)*stride]
		vector.Add(row, 1, shift)
		if !flat {
			l.Map.Down(row)
		}
		for y, m := range mean {
			row[y] += m
		}
	}
}

// Stride is the length of a row of stored scores.
func (l *linear) Stride() int { return l.shape.Stride() }

// coef are weights [features, outputs]; those of feature j stand at number[j].
func (l *linear) coef(weights []float64, number []int32, features int) []float64 {
	row, k := make([]float64, l.shape.Stride()), l.Map.Outputs()
	coef := make([]float64, features*k)
	for j := range l.rows.Cols() {
		for v := range l.Map.Columns() {
			row[v] = weights[l.shape.At(j, v)]
		}
		l.Map.Down(row)
		copy(coef[int(number[j])*k:], row[:k])
	}
	return coef
}

func (l *linear) intercepts(weights []float64) []float64 {
	shift := l.frame.shift(l.job.Pool, weights)
	l.Map.Down(shift)
	intercept := shift[:l.Map.Outputs()]
	floats.Add(intercept[:len(l.frame.Mean)], l.frame.Mean)
	return intercept
}
