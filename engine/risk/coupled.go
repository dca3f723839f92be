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

// systems is the matrix α diag(1/h) + T ⊗ G over the rows with curvature, as an operator on vectors [outputs, rows].
type systems struct{ *preconditioner }

// solve solves with that matrix for scores [outputs, rows].
func (p systems) solve(scores []float64) []float64 {
	if p.coupled {
		solver := panel.NewConjugateGradients(len(scores), p.of.job.Pool)
		return solver.Solve(p, scores, coupledTolerance, coupledSteps)
	}
	p.Precondition(scores, scores)
	return scores
}

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
