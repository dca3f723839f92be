package structure

import (
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// withoutTheta is u_l - Θᵀ Θ u_l for the problems of a block.
func (b *block) withoutTheta(u []float64) []float64 {
	out := append([]float64(nil), u...)
	for g, features := range b.groups {
		t := b.theta[g]
		v := b.project(t, features, u)
		b.job.Stripes(len(features), func(lo, hi int) {
			row := make([]float64, b.shape.Classes)
			for place := lo; place < hi; place++ {
				clear(row)
				vector.AddProduct(row, t.values[place*t.h:(place+1)*t.h], v)
				for l, inside := range row {
					out[b.shape.At(int(features[place]), l)] -= inside
				}
			}
		})
	}
	return out
}

// project is Θ u [h, columns] for a group.
func (b *block) project(t theta, features []int32, u []float64) []float64 {
	v := make([]float64, t.h*b.shape.Classes)
	b.job.Total(len(features), v, func(lo, hi int, dst []float64) {
		row := make([]float64, b.shape.Classes)
		for place := lo; place < hi; place++ {
			for l := range row {
				row[l] = u[b.shape.At(int(features[place]), l)]
			}
			vector.AddOuter(dst, t.values[place*t.h:(place+1)*t.h], row)
		}
	})
	return v
}

// closeObjective adds the regularizer at the new Θ, α/2 Σ_l |u_l - Θᵀ Θ u_l|² = α/2 (|U|² - |Θ U|²), to the losses of
// this round.
func (f *fitting) closeObjective(u *rows.Matrix) {
	if f.Solver == None {
		return
	}
	var outside [1]float64
	f.job.Total(len(f.weights.values), outside[:], func(lo, hi int, dst []float64) {
		for _, v := range f.weights.values[lo:hi] {
			dst[0] += float64(v) * float64(v)
		}
	})
	for g, features := range f.groups {
		shape := panel.Shape{Features: f.problems(), Classes: f.Components}
		inside, rows := make([]float64, shape.Len()), make([]float64, len(f.old)*shape.Stride())
		for place, j := range features {
			copy(rows[int(j)*shape.Stride():], f.theta[g].values[place*f.Components:(place+1)*f.Components])
		}
		f.job.CountAndCheck(int64(f.Rows.NonZeros()))
		u.AddTransposedPanels(f.job, u.Subset(features), inside, rows, shape)
		outside[0] -= squares(f.job.Pool, inside)
	}
	f.objective[len(f.objective)-1] += f.Alpha / 2 * outside[0]
}
