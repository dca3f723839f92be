package structure

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// block is auxiliary problems that are solved together; vectors [d, stride] and scores [n, stride] hold them.
type block struct {
	*fitting
	first  int
	shape  panel.Shape
	scores []float64 // [n, stride]
}

func (b *block) Columns() panel.Shape { return b.shape }

func (b *block) Precondition(_, _ []float64) bool { return false }

func (b *block) stride() int { return b.shape.Panel(0).Stride }

// solve finds U, block by block, and with a solver the objective at the Θ of before.
func solve(f *fitting, round int) {
	objective := 0.0
	for first := 0; first < f.problems(); first += blockColumns {
		columns := min(blockColumns, f.problems()-first)
		b := &block{fitting: f, first: first, shape: panel.Shape{Features: len(f.old), Classes: columns}}
		b.scores = make([]float64, f.Rows.Rows()*b.shape.Stride())
		if f.Solver == None {
			b.store(b.rightSides())
		} else {
			objective += b.solve(round)
		}
		f.report(round*(f.blocks()+1) + first/blockColumns + 1)
	}
	if f.Solver != None {
		f.objective = append(f.objective, objective)
	}
}

// rightSides are 1/n Σ_i (x_i - x̄) y_il, zero where hidden: the weights of a problem but for a factor as α grows.
func (b *block) rightSides() []float64 {
	n := float64(b.Rows.Rows())
	for l := range b.shape.Classes {
		for _, i := range b.positives[b.first+l] {
			b.scores[int(i)*b.shape.Stride()+l] = 2 / n // labels +1 and -1: -1 everywhere adds nothing to centered rows
		}
	}
	sides := make([]float64, b.shape.Len())
	b.transposed(sides)
	b.job.Run(b.shape.Classes, func(l int) {
		share := float64(len(b.positives[b.first+l])) / n
		for j, sum := range b.sums {
			sides[j*b.stride()+l] -= 2 * share * sum / n
		}
	})
	b.mask(sides)
	return sides
}

// solve finds the weights of the problems, and their objective but for its part that depends on the next Θ.
func (b *block) solve(round int) (losses float64) {
	residual := b.rightSides()
	u := make([]float64, b.shape.Len())
	start := 0.0 // Σ_l 1/n Σ_i ½ (b_l - y_il)² for u = 0
	for _, list := range b.positives[b.first : b.first+b.shape.Classes] {
		share := float64(len(list)) / float64(b.Rows.Rows())
		start += 2 * share * (1 - share)
	}
	outside := u // w_l = u_l - Θᵀ v_l
	if round > 0 {
		b.eachWeight(u, func(inU *float32, inBlock *float64) { *inBlock = float64(*inU) })
		// The losses less those at 0.
		start += vector.Sum(b.times(u, -1))/2 - vector.Sum(b.shape.Dots(b.job.Pool, u, residual))
		b.transposed(residual) // minus the gradient at u
		outside = b.withoutTheta(u)
	}
	b.add(residual, -b.Alpha, outside)
	b.mask(residual)
	before := squares(b.job.Pool, outside)
	solver := panel.NewConjugateGradients(b.shape.Len(), b.job.Pool)
	step := solver.Solve(b, residual, b.Tol, b.MaxIter)
	b.add(u, 1, step)
	if round > 0 {
		b.add(outside, 1, step)
	}
	b.store(u)
	return start - solver.Inner()/2 + b.Alpha/2*(before-squares(b.job.Pool, outside))
}

// HessVec implements panel.Operator: 1/n Σ_i (x_i - x̄) (x_i - x̄) . p + α p, zero where hidden.
func (b *block) HessVec(dst, p []float64) {
	b.times(p, 1)
	clear(dst)
	b.add(dst, b.Alpha, p)
	b.transposed(dst)
	b.mask(dst)
}

// times sets the scores to sign/n (x_i - x̄) . p and gives the mean square of (x_i - x̄) . p for each column.
func (b *block) times(p []float64, sign float64) []float64 {
	n, stride := b.Rows.Rows(), b.shape.Stride()
	b.job.CountAndCheck(int64(b.Rows.NonZeros()))
	b.Rows.TimesPanels(b.job, b.Rows.All(), b.scores, p, b.shape)
	sums, squares := make([]float64, stride), make([]float64, stride)
	b.job.SumRows(n, 0, sums, func(i int, dst, _ []float64) { vector.Add(dst, 1, b.scores[i*stride:]) })
	b.job.SumRows(n, 0, squares, func(i int, dst, _ []float64) {
		for k, s := range b.scores[i*stride : (i+1)*stride] {
			s -= sums[k] / float64(n)
			b.scores[i*stride+k] = sign / float64(n) * s
			dst[k] += s * s / float64(n)
		}
	})
	return squares[:b.shape.Classes]
}

func (b *block) transposed(dst []float64) {
	b.job.CountAndCheck(int64(b.Rows.NonZeros()))
	b.Rows.AddTransposedPanels(b.job, b.Rows.All(), dst, b.scores, b.shape)
}

func (b *block) mask(v []float64) {
	b.job.Run(b.shape.Classes, func(l int) {
		if set := b.Hides[b.first+l]; set >= 0 {
			for _, j := range b.hidden[set] {
				v[int(j)*b.stride()+l] = 0
			}
		}
	})
}

// eachWeight calls task for the weights of the block, with the place of each in U and in a vector of the block.
func (b *block) eachWeight(v []float64, task func(inU *float32, inBlock *float64)) {
	b.job.Every(len(b.old), func(j int) {
		row, weights := b.row(v, j), b.weights[j*b.problems()+b.first:]
		for l := range row {
			task(&weights[l], &row[l])
		}
	})
}

func (b *block) add(dst []float64, scale float64, src []float64) {
	b.job.Stripes(len(dst), func(lo, hi int) { vector.Add(dst[lo:hi], scale, src[lo:hi]) })
}

// store puts a vector of the block into U.
func (b *block) store(v []float64) {
	b.eachWeight(v, func(inU *float32, inBlock *float64) { *inU = float32(*inBlock) })
}

func squares[T float32 | float64](pool *work.Pool, v []T) float64 {
	var sum [1]float64
	pool.Total(len(v), sum[:], func(lo, hi int, dst []float64) {
		for _, x := range v[lo:hi] {
			dst[0] += float64(x) * float64(x)
		}
	})
	return sum[0]
}

// withoutTheta is u_l - Θᵀ Θ u_l for the problems of a block.
func (b *block) withoutTheta(u []float64) []float64 {
	out := slices.Clone(u)
	for _, features := range b.groups {
		v := make([]float64, b.Components*b.shape.Classes) // Θ u [h, columns]
		b.job.SumRows(len(features), 0, v, func(place int, dst, _ []float64) {
			j := int(features[place])
			vector.AddOuter(dst, b.thetaOf(j), b.row(u, j))
		})
		b.job.Stripes(len(features), func(lo, hi int) {
			row := make([]float64, b.shape.Classes)
			for _, j := range features[lo:hi] {
				clear(row)
				vector.AddProduct(row, b.thetaOf(int(j)), v)
				vector.Add(b.row(out, int(j)), -1, row)
			}
		})
	}
	return out
}

func (b *block) row(v []float64, feature int) []float64 {
	return v[feature*b.stride():][:b.shape.Classes]
}
