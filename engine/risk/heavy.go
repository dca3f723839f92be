package risk

import (
	"gonum.org/v1/gonum/mat"

	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// heavy are the few rows that carry much of the curvature, the labeled ones: each weighs as much as hundreds of
// unlabeled rows. They make a preconditioner for conjugate gradients.
//
//	Problem  z = M⁻¹ r with M = α I + Σ_{i heavy} h_i g_i g_iᵀ
//	Symbols  g_i = row i in the frame: features less the center, and the constant; h_i its curvature; G Gram matrix of
//	         the rows g_i with h_i > 0
//	Source   Sherman, Morrison and Woodbury: M⁻¹ r = (r - Σ y_i g_i) / α with (α diag(1/h) + G) y = (g_i . r); it
//	         takes the labeled rows out of the spectrum that conjugate gradients have to resolve
//	Cost     Gram matrix once, a Cholesky factor a Newton step (gonum), two passes over the heavy rows a product
type heavy struct {
	rows     *csr.Matrix
	list     []int32
	nonZeros int64
	gram     []float64 // [list, list]
}

// factorCost is how many products with the data a factor may cost, counted by operations: more heavy rows make no
// preconditioner. They weigh less each, too.
const factorCost = 10

// Preconditions says whether so many heavy rows make a preconditioner beside rows with so many non-zeros.
func Preconditions(heavy, nonZeros int) bool {
	return heavy > 0 && heavy*heavy*heavy/3 <= factorCost*nonZeros
}

// newHeavy computes the Gram matrix of some rows; nil if there are none or too many. The center may be nil.
func newHeavy(rows *csr.Matrix, list []int32, constant bool, center []float64) *heavy {
	n := len(list)
	if !Preconditions(n, rows.NonZeros()) {
		return nil
	}
	h := &heavy{rows: rows, list: list, gram: make([]float64, n*n), nonZeros: int64(rows.Subset(list).NonZeros())}
	toCenter, square := make([]float64, n), 0.0
	if center != nil {
		square = vector.Dot(center, center)
		for a, i := range list {
			toCenter[a] = rows.RowTimes(int(i), center)
		}
	}
	if constant {
		square++
	}
	dense := make([]float64, rows.Cols())
	for a, i := range list {
		rows.AddRow(int(i), 1, dense)
		for b, j := range list[:a+1] {
			g := rows.RowTimes(int(j), dense) - toCenter[a] - toCenter[b] + square
			h.gram[a*n+b], h.gram[b*n+a] = g, g
		}
		rows.Row(int(i), func(col int, _ float64) { dense[col] = 0 })
	}
	return h
}

// factor is the Cholesky factor of α diag(1/h) + G over the rows with curvature.
type factor struct {
	places   []int   // of the rows in the list
	active   []int32 // rows
	cholesky mat.Cholesky
}

// factor takes the curvature h of the row at each place of the list.
func (h *heavy) factor(alpha float64, curve func(place int) float64) *factor {
	f := &factor{}
	for a, i := range h.list {
		if curve(a) > 0 {
			f.places, f.active = append(f.places, a), append(f.active, i)
		}
	}
	if len(f.places) == 0 {
		return f
	}
	system := mat.NewSymDense(len(f.places), nil)
	for k, a := range f.places {
		for m, b := range f.places[:k+1] {
			g := h.gram[a*len(h.list)+b]
			if a == b {
				g += alpha / curve(a)
			}
			system.SetSym(k, m, g)
		}
	}
	if !f.cholesky.Factorize(system) {
		f.places, f.active = nil, nil // rounding: no preconditioner is better than a wrong one
	}
	return f
}

// solve replaces sums [active] by (α diag(1/h) + G)⁻¹ sums and returns their sum.
func (f *factor) solve(sums []float64) (total float64) {
	v := mat.NewVecDense(len(sums), sums)
	_ = f.cholesky.SolveVecTo(v, v) // the one error is a large condition number, which only slows things down
	return vector.Sum(sums)
}

// solved is the solution [list] for sums [list], 0 at rows without curvature.
func (f *factor) solved(sums []float64) []float64 {
	out := make([]float64, len(sums))
	if len(f.places) == 0 {
		return out
	}
	packed := make([]float64, len(f.places))
	for k, a := range f.places {
		packed[k] = sums[a]
	}
	f.solve(packed)
	for k, a := range f.places {
		out[a] = packed[k]
	}
	return out
}

// Heavy names the rows that make a preconditioner; costs must be set.
func (r *Risk) Heavy(list []int32) {
	r.heavy = newHeavy(r.rows, list, r.frame.Constant, r.frame.Center)
}

// Precondition implements minimize.Preconditioned.
func (r *Risk) Precondition(dst, residual []float64) bool {
	if r.heavy == nil || len(r.factor.active) == 0 {
		return false
	}
	r.job.Visit(2 * r.heavy.nonZeros)
	sums, shift := make([]float64, len(r.factor.active)), r.frame.shift(r.job.Pool, residual)
	for k, i := range r.factor.active {
		sums[k] = r.rows.RowTimes(int(i), residual) + shift
	}
	total := r.factor.solve(sums)
	spread(r.job.Pool, dst, residual, 1/r.alpha, total/r.alpha, r.frame.Center)
	for k, i := range r.factor.active {
		r.rows.AddRow(int(i), -sums[k]/r.alpha, dst)
	}
	if r.frame.Constant {
		dst[len(dst)-1] -= total / r.alpha
	}
	return true
}

// spread sets dst = scale src + along μ; the center may be nil.
func spread(pool *work.Pool, dst, src []float64, scale, along float64, center []float64) {
	pool.Stripes(len(dst), func(lo, hi int) {
		for j, v := range src[lo:hi] {
			dst[lo+j] = scale * v
		}
		if center != nil {
			end := min(hi, len(center))
			vector.Add(dst[lo:end], along, center[lo:end])
		}
	})
}
