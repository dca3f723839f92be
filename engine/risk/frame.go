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

// linear is what rows and weights give each other: stored scores of rows along a vector of weights, and sums of rows.
// Every column has an intercept in the frame; the constant feature is the last one.
type linear struct {
	job      *work.Job
	rows     *rows.Matrix
	rounding *rows.Rounded // rounded products, or nil
	Map      *scores.Tree
	frame    Frame
	shape    panel.Shape
	Stride   int // length of a row of stored scores
	alpha    float64
}

// coupledIntercepts reports whether the intercepts depend on all variables.
func (l *linear) coupledIntercepts() bool { return l.frame.Constant && l.frame.Center != nil }

// last is the place of the constant feature's weight for a class.
func (l *linear) last(class int) int { return l.shape.At(l.shape.Features-1, class) }

// walk calls each for every panel: the weights of the features lo ... hi-1 begin at start and end before end.
func (l *linear) walk(lo, hi int, each func(panel panel.Panel, start, end int)) {
	for b := range l.shape.Panels() {
		panel := l.shape.Panel(b)
		each(panel, panel.Start+lo*panel.Stride, panel.Start+hi*panel.Stride)
	}
}

// shift [stride] is what all scores of a class have in common along p: the change of its intercept.
func (l *linear) shift(p []float64) []float64 {
	shift := make([]float64, l.Stride)
	if l.frame.Center != nil {
		l.job.Total(l.rows.Cols(), shift, func(lo, hi int, part []float64) { // μ . p
			l.walk(lo, hi, func(panel panel.Panel, start, end int) {
				sums := make([]float64, panel.Stride)
				vector.AddProduct(sums, l.frame.Center[lo:hi], p[start:end])
				vector.Add(part[panel.First:panel.First+panel.Width], 1, sums)
			})
		})
	}
	for y := range shift {
		shift[y] = -shift[y]
		if l.frame.Constant {
			shift[y] += p[l.last(y)]
		}
	}
	return shift
}

// beginProduct sets dst = α p and returns the shift of p [stride]; see Frame.
func (l *linear) beginProduct(dst, p []float64) (shift []float64) {
	l.scaleTo(dst, l.alpha, p)
	shift = l.shift(p)
	if l.frame.Constant {
		for y, v := range shift { // with or without a center the regularized intercept
			dst[l.last(y)] = l.alpha * v
		}
	}
	return shift
}

func (l *linear) scaleTo(dst []float64, scale float64, src []float64) {
	l.job.Stripes(len(dst), func(lo, hi int) { floats.ScaleTo(dst[lo:hi], scale, src[lo:hi]) })
}

// finishProduct adds to dst what beginProduct and the sums over rows have left out; total [stride] = Σ q_iy.
func (l *linear) finishProduct(dst []float64, alpha float64, shift, total []float64) {
	scale := make([]float64, l.Stride)
	for y := range scale {
		scale[y] = -total[y]
		if l.coupledIntercepts() {
			scale[y] -= alpha * shift[y]
		}
		if l.frame.Constant {
			dst[l.last(y)] += total[y]
		}
	}
	if l.frame.Center == nil {
		return
	}
	l.job.Stripes(l.rows.Cols(), func(lo, hi int) {
		l.walk(lo, hi, func(panel panel.Panel, start, end int) {
			scales := make([]float64, panel.Stride)
			copy(scales, scale[panel.First:panel.First+panel.Width])
			vector.AddOuter(dst[start:end], l.frame.Center[lo:hi], scales)
		})
	})
}

// dot is pᵀ R q; the shifts are those of p and q.
func (l *linear) dot(p, q, shiftP, shiftQ []float64) float64 {
	var sums [1]float64
	l.job.Total(l.rows.Cols(), sums[:], func(lo, hi int, part []float64) {
		l.walk(lo, hi, func(_ panel.Panel, start, end int) {
			part[0] += vector.Dot(p[start:end], q[start:end])
		})
	})
	if l.frame.Constant {
		for y := range shiftP {
			sums[0] += shiftP[y] * shiftQ[y]
		}
	}
	return sums[0]
}

// gradientNorm is the squared norm of a gradient g in the coordinates in which the penalty is a plain norm; see Frame.
func (l *linear) gradientNorm(g []float64) float64 {
	last := make([]float64, l.Stride)
	if l.frame.Constant {
		for y := range last {
			last[y] = g[l.last(y)]
		}
	}
	var sums [1]float64
	l.job.Total(l.rows.Cols(), sums[:], func(lo, hi int, part []float64) {
		l.walk(lo, hi, func(panel panel.Panel, start, end int) {
			if !l.coupledIntercepts() {
				part[0] += vector.Dot(g[start:end], g[start:end])
				return
			}
			if panel.Stride == 1 {
				part[0] += vector.SquareOfSum(g[start:end], last[panel.First], l.frame.Center[lo:hi])
				return
			}
			for _, mu := range l.frame.Center[lo:hi] {
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
	stride := l.Stride
	for _, i := range rows {
		row := dst[int(i)*stride : (int(i)+1)*stride]
		vector.Add(row, 1, shift)
		l.Map.Down(row)
		for y, m := range mean {
			row[y] += m
		}
	}
}

// coef are weights [features, outputs]; those of feature j stand at number[j].
func (l *linear) coef(weights []float64, number []int32, features int) []float64 {
	row, k := make([]float64, l.Stride), l.Map.Outputs()
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
	shift := l.shift(weights)
	l.Map.Down(shift)
	intercept := shift[:l.Map.Outputs()]
	floats.Add(intercept[:len(l.frame.Mean)], l.frame.Mean)
	return intercept
}
