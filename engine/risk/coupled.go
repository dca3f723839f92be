package risk

import "github.com/fewlabel/fewlabel/engine/vector"

// Conjugate gradients for the rows of a tree end at this part of the residual.
const (
	coupledTolerance = 1e-3
	coupledSteps     = 40
)

// solveCoupled solves (α diag(1/h) + T ⊗ G) y = scores over the rows with curvature; vectors are [K][rows].
func (p *preconditioner) solveCoupled(scores [][]float64) [][]float64 {
	classes, places := p.risk.Map.Classes(), len(p.rows)
	matrix := func() [][]float64 {
		m := make([][]float64, classes)
		for y := range m {
			m[y] = make([]float64, places)
		}
		return m
	}
	y, residual, product := matrix(), matrix(), matrix()
	for c := range residual {
		copy(residual[c], scores[c])
	}
	conjugate := func() (z [][]float64, square float64) {
		z, parts := make([][]float64, classes), make([]float64, classes)
		p.risk.job.Run(classes, func(c int) {
			z[c] = p.factors[c].solve(residual[c])
			vector.Scale(z[c], 1/p.risk.Map.Depth(c))
			parts[c] = vector.Dot(z[c], residual[c])
		})
		return z, vector.Sum(parts)
	}
	direction, square := conjugate()
	enough := coupledTolerance * coupledTolerance * square
	for range coupledSteps {
		if !(square > enough) {
			break
		}
		length := square / p.times(product, direction)
		for c := range y {
			vector.Add(y[c], length, direction[c])
			vector.Add(residual[c], -length, product[c])
		}
		z, next := conjugate()
		for c := range z {
			vector.Add(z[c], next/square, direction[c])
		}
		direction, square = z, next
	}
	return y
}

// times sets dst = (α diag(1/h) + T ⊗ G) y and returns yᵀ dst.
func (p *preconditioner) times(dst, y [][]float64) float64 {
	places := len(p.rows)
	p.risk.job.Run(len(y), func(c int) {
		clear(dst[c])
		for b, v := range y[c] {
			if v != 0 {
				vector.Add(dst[c], v, p.gram[b*places:(b+1)*places])
			}
		}
	})
	row, inner := make([]float64, p.risk.Map.Columns()), 0.0
	for a := range places {
		clear(row)
		for c := range dst {
			row[c] = dst[c][a]
		}
		p.risk.Map.Up(row)
		p.risk.Map.Down(row)
		for c, curve := range p.curves[a][:len(dst)] {
			dst[c][a] = 0
			if curve > 0 {
				dst[c][a] = row[c] + p.risk.alpha/curve*y[c][a]
			}
		}
	}
	for c := range dst {
		inner += vector.Dot(dst[c], y[c])
	}
	return inner
}
