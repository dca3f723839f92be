package risk

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Conjugate gradients for the rows of a tree end at this part of the residual. In a direction that the rows have in
// common the rest counts a thousand times: at 1e-3 a fit of 20 Newsgroups took 150 times as long as at 1e-6.
const (
	coupledTolerance = 1e-6
	coupledSteps     = 100
)

// coupledSystem is the matrix α diag(1/h) + T ⊗ G over the rows with curvature, as an operator on vectors [K, rows].
type coupledSystem struct{ *preconditioner }

// solveCoupled solves with that matrix for scores [K][rows].
func (p *preconditioner) solveCoupled(scores [][]float64) [][]float64 {
	right := slices.Concat(scores...)
	solver := panel.NewConjugateGradients(len(right), p.of.job.Pool)
	return coupledSystem{p}.classes(solver.Solve(coupledSystem{p}, right, coupledTolerance, coupledSteps))
}

// classes are the parts [K][rows] of a vector.
func (p coupledSystem) classes(v []float64) [][]float64 {
	return slices.Collect(slices.Chunk(v, len(p.rows)))
}

func (p coupledSystem) Precondition(dst, residual []float64) bool {
	to, from := p.classes(dst), p.classes(residual)
	p.of.job.Run(len(to), func(c int) {
		copy(to[c], p.factors[c].solve(from[c]))
		vector.Scale(to[c], 1/p.of.Map.Depth(c))
	})
	return true
}

func (p coupledSystem) Columns() panel.Shape {
	return panel.Shape{Features: p.solved * len(p.rows), Classes: 1}
}

func (p coupledSystem) HessVec(dst, v []float64) {
	to, from, places := p.classes(dst), p.classes(v), len(p.rows)
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
				to[c][a] = row[c] + p.alpha/curve*from[c][a]
			}
		}
	}
}
