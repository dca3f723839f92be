package structure

import (
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// blockColumns problems are solved together: a panel. More take more memory and save no time.
const blockColumns = 32

// weights are U as rows of float32 for the SVD.
type weights struct {
	d, m   int
	values []float32 // [d, m]
}

func newWeights(d, m int) *weights { return &weights{d, m, make([]float32, d*m)} }

// block is some of the auxiliary problems, solved together; vectors [d, columns] and scores [n, stride] hold them.
type block struct {
	*fitting
	first  int
	shape  panel.Shape
	scores []float64 // [n, stride]
}

// solve finds U, block by block, and with a solver the objective at the Θ of before.
func (f *fitting) solve(round int) {
	objective := 0.0
	for first := 0; first < f.problems(); first += blockColumns {
		columns := min(blockColumns, f.problems()-first)
		b := &block{fitting: f, first: first, shape: panel.Shape{Features: len(f.old), Classes: columns}}
		b.scores = f.job.Borrow(f.Rows.Rows() * b.shape.Stride())
		if f.Solver == None {
			b.store(b.rightSides())
		} else {
			objective += b.solve(round)
		}
		f.job.Return(b.scores)
		f.report(round*(f.blocks()+1) + first/blockColumns + 1)
	}
	if f.Solver != None {
		f.objective = append(f.objective, objective)
	}
}

// rightSides are 1/n Σ_i (x_i - x̄) y_il, zero where hidden: the weights of a problem but for a factor as α grows.
func (b *block) rightSides() []float64 {
	n := float64(b.Rows.Rows())
	clear(b.scores)
	for l := range b.shape.Classes {
		for _, i := range b.positives[b.first+l] {
			b.scores[int(i)*b.shape.Stride()+l] = 2 / n // labels +1 and -1: -1 everywhere adds nothing to centered rows
		}
	}
	sides := make([]float64, b.shape.Len())
	b.transposed(sides)
	b.eachColumn(func(l int, at func(j int) int) {
		share := float64(len(b.positives[b.first+l])) / n
		for j, sum := range b.sums {
			sides[at(j)] -= 2 * share * sum / n
		}
	})
	b.mask(sides, nil)
	return sides
}

// solve finds the weights of the problems and returns their objective before the next Θ without the part of it that
// depends on Θ; that is added when Θ is known.
func (b *block) solve(round int) (losses float64) {
	residual := b.rightSides()
	u := make([]float64, b.shape.Len())
	start := b.lossesAtZero()
	own := u // w_l = u_l - Θᵀ v_l
	if round > 0 {
		u = b.load()
		start = b.subtractGradient(residual, u)
		own = b.withoutTheta(u)
	}
	b.add(residual, -b.Alpha, own)
	b.mask(residual, nil)
	before := squares(b.job.Pool, own)
	step := make([]float64, b.shape.Len())
	limits := minimize.ColumnLimits{Tolerance: b.Tol, MaxSteps: b.MaxIter}
	decrease := 0.0
	for _, outcome := range minimize.SolveColumns(b.job.Pool, b, step, residual, len(b.old), b.shape.Classes, limits) {
		decrease += outcome.Decrease
	}
	b.add(u, 1, step)
	if round > 0 {
		b.add(own, 1, step)
	}
	b.store(u)
	return start - decrease + b.Alpha/2*(before-squares(b.job.Pool, own))
}

// lossesAtZero is Σ_l 1/n Σ_i ½ (b_l - y_il)² for u = 0.
func (b *block) lossesAtZero() float64 {
	total := 0.0
	for l := range b.shape.Classes {
		share := float64(len(b.positives[b.first+l])) / float64(b.Rows.Rows())
		total += 2 * share * (1 - share)
	}
	return total
}

// subtractGradient makes the right-hand sides minus the gradient of the losses at u, whose sum it returns.
func (b *block) subtractGradient(residual, u []float64) (losses float64) {
	squares := b.times(u)
	for l, square := range squares {
		losses += square/2 - b.inner(u, residual, l)
	}
	b.scaleScores(-1 / float64(b.Rows.Rows()))
	b.transposed(residual)
	return losses + b.lossesAtZero()
}

// HessVec implements minimize.Systems: 1/n Σ_i (x_i - x̄) (x_i - x̄) . p + α p, zero where hidden.
func (b *block) HessVec(dst, p []float64, columns []int) {
	some := *b
	some.shape = panel.Shape{Features: len(b.old), Classes: len(columns)}
	some.scores = b.scores[:b.Rows.Rows()*some.shape.Stride()]
	some.times(p)
	some.scaleScores(1 / float64(b.Rows.Rows()))
	b.job.Stripes(len(dst), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			dst[k] = b.Alpha * p[k]
		}
	})
	some.transposed(dst)
	some.mask(dst, columns)
}

// times sets the scores to (x_i - x̄) . p and gives the mean square of each column.
func (b *block) times(p []float64) []float64 {
	n, stride := b.Rows.Rows(), b.shape.Stride()
	b.job.CountAndCheck(int64(b.Rows.NonZeros()))
	b.Rows.TimesPanels(b.job, b.Rows.All(), b.scores, p, b.shape)
	sums, squares := make([]float64, stride), make([]float64, stride)
	b.job.Total(n, sums, func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			for k, s := range b.scores[i*stride : (i+1)*stride] {
				dst[k] += s
			}
		}
	})
	b.job.Total(n, squares, func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			for k, s := range b.scores[i*stride : (i+1)*stride] {
				s -= sums[k] / float64(n)
				b.scores[i*stride+k] = s
				dst[k] += s * s / float64(n)
			}
		}
	})
	return squares[:b.shape.Classes]
}

// transposed adds Xᵀ scores.
func (b *block) transposed(dst []float64) {
	b.job.CountAndCheck(int64(b.Rows.NonZeros()))
	b.Rows.AddTransposedPanels(b.job, b.Rows.All(), dst, b.scores, b.shape)
}

func (b *block) scaleScores(factor float64) {
	b.job.Stripes(len(b.scores), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			b.scores[k] *= factor
		}
	})
}

// mask sets the weights of hidden features to zero; columns are the problems of the block that v holds, nil: all.
func (b *block) mask(v []float64, columns []int) {
	b.eachColumn(func(k int, at func(j int) int) {
		l := k
		if columns != nil {
			l = columns[k]
		}
		for _, j := range b.hiddenFrom(b.first + l) {
			v[at(int(j))] = 0
		}
	})
}

// eachColumn calls task for every column, with the place of a feature in it.
func (b *block) eachColumn(task func(k int, at func(j int) int)) {
	b.job.Run(b.shape.Classes, func(k int) {
		start, next := b.shape.At(0, k), b.shape.At(1, k)
		task(k, func(j int) int { return start + j*(next-start) })
	})
}

// inner is the inner product of a column of two vectors.
func (b *block) inner(u, v []float64, l int) float64 {
	var sum [1]float64
	b.job.Total(len(b.old), sum[:], func(lo, hi int, dst []float64) {
		for j := lo; j < hi; j++ {
			at := b.shape.At(j, l)
			dst[0] += u[at] * v[at]
		}
	})
	return sum[0]
}

func (b *block) add(dst []float64, scale float64, src []float64) {
	b.job.Stripes(len(dst), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			dst[k] += scale * src[k]
		}
	})
}

// store puts the columns into U.
func (b *block) store(u []float64) {
	b.job.Stripes(len(b.old), func(lo, hi int) {
		for j := lo; j < hi; j++ {
			for l := range b.shape.Classes {
				b.weights.values[j*b.weights.m+b.first+l] = float32(u[b.shape.At(j, l)])
			}
		}
	})
}

// load takes the columns from U.
func (b *block) load() []float64 {
	u := make([]float64, b.shape.Len())
	b.job.Stripes(len(b.old), func(lo, hi int) {
		for j := lo; j < hi; j++ {
			for l := range b.shape.Classes {
				u[b.shape.At(j, l)] = float64(b.weights.values[j*b.weights.m+b.first+l])
			}
		}
	})
	return u
}

func squares(pool *work.Pool, v []float64) float64 {
	var sum [1]float64
	pool.Total(len(v), sum[:], func(lo, hi int, dst []float64) {
		for _, x := range v[lo:hi] {
			dst[0] += x * x
		}
	})
	return sum[0]
}
