package risk

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// preconditioner is that of the few rows that carry much of the curvature, the labeled ones: each weighs as much as
// hundreds of unlabeled rows.
//
//	Problem  z = P⁻¹ r with P = α I + Σ_i Mᵀ diag(h_i) M ⊗ g_i g_iᵀ over its rows i and the weights of all columns
//	Symbols  g_i = row i in the frame: features less the center, and the constant; h_iy its curvature in the score of
//	         output y; G Gram matrix of the rows g_i; M the map of the scores; T = M Mᵀ, what two outputs have in common
//	Source   Sherman, Morrison and Woodbury: P⁻¹ r = (r - Σ_iy y_iy M_y ⊗ g_i) / α with (α diag(1/h) + T ⊗ G) y =
//	         (M r g_i); it takes the labeled rows out of the spectrum that conjugate gradients have to resolve. Without
//	         a tree T is the identity and every output has a system of its own. With one these are solved together, by
//	         conjugate gradients whose preconditioner is the diagonal of T (solved apart, fits of 20 Newsgroups with 5
//	         labels a class take 1.6 to 2.8 of the time). With a loss that is no sum over the classes diag(h) is a rough
//	         picture: all columns share a system with the mean of their curvatures
//	Cost     Gram matrix once; a Cholesky factor (gonum) a system, anew where curvatures are no longer near; two passes
//	         over its rows a product; with a tree some ten products with the Gram matrix besides. (Factors in float32
//	         take half of the memory, but machines of a group then differ from one in the eighth digit.)
type preconditioner struct {
	of      *losses
	matrix  *rows.Matrix // that every machine has
	rows    []int32      // of the matrix
	on      *rows.Subset // rows
	values  []float64    // [matrix.Rows, stride]
	scores  [][]float64  // [rows][stride] of these
	own     []int32      // of these rows those of this machine, as rows of the risk
	first   int          // their place
	gram    []float64    // [rows, rows] G
	curves  [][]float64  // [rows][systems] curvature
	factors []*factor    // [systems] one for each output
	coupled bool         // the systems of the outputs are solved together
	shared  bool         // there is one system, of all columns
}

// Bounds on the rows of a preconditioner. Of several factors one takes no more memory than eight scores of every row:
// with 100 classes and 500 labeled rows among 10,000 a fit without takes .8 of the time and .6 of the memory, with 200
// to 400 among 2,000 to 14,000 rows .9 to 1.02 of the time, but switching (77 classes, 385 of 14,000) 1.4.
const (
	factorCost  = 10      // products with the data that a factor may cost
	factorRows  = 16      // rows of all kinds, which the square of the number may not exceed where there are several
	smallFactor = 1 << 14 // but for this square
)

// preconditions reports whether this number of rows, of all with nonZeros values, is few enough for some factors.
func preconditions(rows, nonZeros, all float64, factors int) bool {
	return rows > 0 && rows*rows*rows/3 <= factorCost*nonZeros &&
		(factors == 1 || rows*rows <= max(smallFactor, factorRows*all))
}

// PreconditionBy names the rows that make a preconditioner, if they are few enough; they must have a weight. Rows count
// as copies [n] (nil: one each), so that conjugate gradients take the same steps.
func (r *Risk) PreconditionBy(rows []int32, copies []float64) {
	r.preconditioner = nil
	if copies == nil {
		copies = slices.Repeat([]float64{1}, r.rows.Rows())
	}
	counts := make([]float64, 3) // copies of the rows, non-zeros of all copies, all copies: a part of one counts as one
	for _, i := range rows {
		counts[0] += math.Ceil(copies[i])
	}
	for i, number := range copies {
		counts[1] += math.Ceil(number) * float64(r.rows.RowNonZeros(i))
		counts[2] += math.Ceil(number)
	}
	r.job.Reduce(counts)
	if !preconditions(counts[0], counts[1], counts[2], r.Columns().Classes) {
		return
	}
	_, sum := r.Loss.(loss.OneAgainstRest) // over the classes
	p := &preconditioner{of: r.losses, values: r.changes, matrix: r.rows, rows: rows, own: rows,
		coupled: sum && !r.Map.Flat(), shared: !sum && r.Map.Columns() > 1}
	p.factors = make([]*factor, r.Map.Outputs())
	if p.shared {
		p.factors = p.factors[:1]
	}
	if r.job.Group != nil {
		p.matrix, p.first = r.rows.Gathered(r.job, rows)
		p.rows, p.values = p.matrix.All().Rows(), make([]float64, p.matrix.Rows()*r.Stride)
	}
	p.on, p.gram = p.matrix.Subset(p.rows), p.gramMatrix()
	for _, i := range p.rows {
		p.scores = append(p.scores, p.values[int(i)*r.Stride:][:r.Stride])
	}
	r.preconditioner = p
}

// gramMatrix is that of the rows in the frame.
func (p *preconditioner) gramMatrix() []float64 {
	n, frame, rows := len(p.rows), p.of.frame, p.matrix
	center := frame.Center
	gram, toCenter, square := make([]float64, n*n), make([]float64, n), 0.0
	if center != nil {
		square = vector.Dot(center, center)
		for a, i := range p.rows {
			toCenter[a] = rows.RowTimes(int(i), center)
		}
	}
	if frame.Constant {
		square++
	}
	dense := make([]float64, rows.Cols())
	for a, i := range p.rows {
		rows.Row(int(i), func(col int, value float64) { dense[col] += value })
		for b, j := range p.rows[:a+1] {
			g := rows.RowTimes(int(j), dense) - toCenter[a] - toCenter[b] + square
			gram[a*n+b], gram[b*n+a] = g, g
		}
		rows.Row(int(i), func(col int, _ float64) { dense[col] = 0 })
	}
	return gram
}

// factorize finds the factors at the current curvature.
func (p *preconditioner) factorize() {
	if p == nil {
		return
	}
	update := func(v int) {
		alpha, curves := p.of.alpha, make([]float64, len(p.rows))
		if p.coupled {
			alpha /= p.of.Map.Depth(v)
		}
		for a := range curves {
			curves[a] = p.curves[a][v]
		}
		switch {
		case p.factors[v].serves(curves):
		case v > 0 && !p.coupled && p.factors[0].serves(curves): // as at W = 0
			p.factors[v] = p.factors[0]
		default:
			p.factors[v] = p.factor(alpha, curves)
		}
	}
	update(0)
	p.of.job.Run(len(p.factors)-1, func(k int) { update(1 + k) })
}

// findCurves finds the curvatures of the preconditioner's rows, of all machines after the next reduction.
func (p *preconditioner) findCurves() {
	if p == nil {
		return
	}
	all := make([]float64, len(p.rows)*p.of.Stride)
	p.curves = slices.Collect(slices.Chunk(all, p.of.Stride))
	p.of.job.Run(len(p.own), func(k int) { p.curvature(p.curves[p.first+k], p.own[k]) })
	p.of.job.ReduceDeferred(all)
}

// curvature puts row i's curvature in each output, or the mean of all columns, into dst [stride].
func (p *preconditioner) curvature(dst []float64, i int32) {
	product := make([]float64, len(dst))
	for y := range p.of.Map.Outputs() {
		clear(product)
		product[y] = 1
		p.of.terms.hessVec(i, product)
		dst[y] = product[y]
	}
	if columns := p.of.Map.Columns(); p.shared {
		p.of.Map.Up(dst)
		dst[0] = vector.Sum(dst[:columns]) / float64(columns)
	}
}

// factor is the Cholesky factor of α diag(1/h) + G over the rows with curvature in one system.
type factor struct {
	curves []float64 // [rows] h
	places []int     // of rows with curvature in the list
	upper  []float64 // triangle of these rows, packed; of all columns in a square
}

// stale is how many times as large or as small curvatures may have become until there is a new factor. A factor at each
// Newton step takes 1.5 times the time of a fit (maxent, 400 labels); 1.5, 2 and 4 take the same passes within 4 %.
const stale = 1.5

// serves reports whether the factor is near that at other curvatures.
func (f *factor) serves(curves []float64) bool {
	return f != nil && slices.EqualFunc(curves, f.curves, func(h, own float64) bool {
		return !(h > stale*own || stale*h < own)
	})
}

func (p *preconditioner) factor(alpha float64, curves []float64) *factor {
	f := &factor{curves: curves}
	for a, h := range curves {
		if h > 0 {
			f.places = append(f.places, a)
		}
	}
	n := len(f.places)
	matrix := blas64.Symmetric{N: n, Stride: max(1, n), Uplo: blas.Upper, Data: make([]float64, n*n)}
	for k, a := range f.places {
		row, gram := matrix.Data[k*n:(k+1)*n], p.gram[a*len(p.rows):(a+1)*len(p.rows)]
		for m, b := range f.places[k:] {
			row[k+m] = gram[b]
		}
		row[k] += alpha / curves[a]
	}
	if _, found := lapack64.Potrf(matrix); !found {
		f.places = nil // rounding: no preconditioner is better than a wrong one
		return f
	}
	if f.upper = matrix.Data; !p.shared {
		f.upper = make([]float64, 0, n*(n+1)/2)
		for k := range n {
			f.upper = append(f.upper, matrix.Data[k*n+k:(k+1)*n]...)
		}
	}
	return f
}

// solve replaces scores [rows] by (α diag(1/h) + G)⁻¹ times them, 0 at rows without curvature.
func (f *factor) solve(scores []float64) {
	packed := make([]float64, len(f.places))
	for k, a := range f.places {
		packed[k] = scores[a]
	}
	clear(scores)
	upper := blas64.TriangularPacked{N: len(packed), Data: f.upper, Uplo: blas.Upper, Diag: blas.NonUnit}
	v := blas64.Vector{N: len(packed), Data: packed, Inc: 1}
	blas64.Tpsv(blas.Trans, upper, v)
	blas64.Tpsv(blas.NoTrans, upper, v)
	for k, a := range f.places {
		scores[a] = packed[k]
	}
}

// solveAll replaces scores [rows][columns] by (α diag(1/h) + G)⁻¹ times them, 0 at rows without curvature.
func (f *factor) solveAll(job *work.Job, scores [][]float64) {
	n, columns := len(f.places), len(scores[0])
	packed := make([]float64, 0, n*columns)
	for _, a := range f.places {
		packed = append(packed, scores[a]...)
	}
	for _, row := range scores {
		clear(row)
	}
	if n == 0 { // there may be no factor
		return
	}
	upper := blas64.Triangular{N: n, Stride: n, Data: f.upper, Uplo: blas.Upper, Diag: blas.NonUnit}
	job.Run((columns+panel.Width-1)/panel.Width, func(b int) {
		first := b * panel.Width
		some := blas64.General{Rows: n, Cols: min(panel.Width, columns-first), Stride: columns, Data: packed[first:]}
		blas64.Trsm(blas.Left, blas.Trans, 1, upper, some)
		blas64.Trsm(blas.Left, blas.NoTrans, 1, upper, some)
	})
	for k, a := range f.places {
		copy(scores[a], packed[k*columns:])
	}
}

// Precondition implements panel.Operator: dst = P⁻¹ residual.
func (r *Risk) Precondition(dst, residual []float64) bool {
	p := r.preconditioner
	if p == nil {
		return false
	}
	shift, total := r.shift(residual), make([]float64, r.Stride)
	r.job.CountAndCheck(2 * int64(p.on.NonZeros()))
	p.matrix.TimesPanels(r.job, p.on, p.values, residual, r.shape)
	for _, row := range p.scores {
		vector.Add(row, 1, shift)
	}
	p.solve()
	for _, row := range p.scores {
		vector.Scale(row, -1/r.alpha)
		vector.Add(total, 1, row)
	}
	r.scaleTo(dst, 1/r.alpha, residual)
	r.finishProduct(dst, 0, total, total)
	p.matrix.AddTransposedPanels(r.job, p.on, dst, p.values, r.shape)
	return true
}

// solve replaces the column scores of its rows by their coefficients y in every column.
func (p *preconditioner) solve() {
	if p.shared {
		p.factors[0].solveAll(p.of.job, p.scores)
		return
	}
	places, scores := len(p.rows), make([]float64, len(p.factors)*len(p.rows)) // [outputs, rows]
	for a, row := range p.scores {
		p.of.Map.Down(row)
		for v := range p.factors {
			scores[v*places+a] = row[v]
		}
	}
	if all := (systems{p}); p.coupled {
		solver := panel.NewConjugateGradients(len(scores), p.of.job.Pool)
		scores = solver.Solve(all, scores, coupledTolerance, coupledSteps)
	} else {
		all.Precondition(scores, scores)
	}
	for a, row := range p.scores {
		clear(row)
		for v := range p.factors {
			row[v] = scores[v*places+a]
		}
		p.of.Map.Up(row)
	}
}

// Conjugate gradients for the rows of a tree end at this part of the residual. In a direction that the rows have in
// common the rest counts a thousand times: at 1e-3 a fit of 20 Newsgroups took 150 times as long as at 1e-6.
const (
	coupledTolerance = 1e-6
	coupledSteps     = 100
)

// systems is the matrix α diag(1/h) + T ⊗ G over the rows with curvature, as an operator on vectors [outputs, rows].
type systems struct{ *preconditioner }

// outputs are the parts [outputs][rows] of a vector.
func (p systems) outputs(v []float64) [][]float64 {
	return slices.Collect(slices.Chunk(v, len(p.rows)))
}

// Precondition solves with the diagonal of T in place of T: without a tree that is T itself, the identity.
func (p systems) Precondition(dst, residual []float64) bool {
	copy(dst, residual)
	to := p.outputs(dst)
	p.of.job.Run(len(to), func(c int) {
		p.factors[c].solve(to[c])
		vector.Scale(to[c], 1/p.of.Map.Depth(c))
	})
	return true
}

func (p systems) Columns() panel.Shape {
	return panel.Shape{Features: len(p.factors) * len(p.rows), Classes: 1}
}

func (p systems) HessVec(dst, v []float64) {
	to, from, places := p.outputs(dst), p.outputs(v), len(p.rows)
	p.of.job.Run(len(to), func(c int) {
		clear(to[c])
		for b, y := range from[c] {
			if y != 0 {
				vector.Add(to[c], y, p.gram[b*places:(b+1)*places])
			}
		}
	})
	row := make([]float64, p.of.Map.Columns())
	for a := range places {
		clear(row)
		for c := range to {
			row[c] = to[c][a]
		}
		p.of.Map.Up(row)
		p.of.Map.Down(row)
		for c, curve := range p.curves[a][:len(to)] {
			to[c][a] = 0
			if curve > 0 {
				to[c][a] = row[c] + p.of.alpha/curve*from[c][a]
			}
		}
	}
}
