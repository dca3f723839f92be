package minimize

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// Smooth is a function with a gradient. It may panic to be cancelled.
type Smooth interface {
	// At puts the gradient at w into gradient and returns the value.
	At(w, gradient []float64) float64
}

// QuasiNewton minimizes a smooth function, convex or not, from gradients.
//
//	Problem  a local minimum of F(w), F continuously differentiable
//	Source   gonum's L-BFGS and line search (Moré & Thuente 1994), as Nocedal & Wright 2006, algorithm 7.5, has them.
//	         Differences: they are called step by step, where optimize.Minimize evaluates on a goroutine of its own, and
//	         a cancel, which is a panic here, would end the process
//	Stops    Enough holds for the value and the gradient's length; MaxSteps taken; no step improves (rounding)
//	Cost     a step: one to two gradients, 4 Memory d operations; (2 Memory + 7) d numbers
type QuasiNewton struct {
	Memory   int // pairs that are kept
	MaxSteps int
	// Enough ends the search. It is called after every step, and at the start.
	Enough func(step int, value, norm float64) bool

	search *optimize.LinesearchMethod // keeps its vectors for the next call
}

const (
	sufficient = 1e-4 // of the decrease that the slope promises
	mostTries  = 40   // of step lengths
)

// Minimize moves w to a minimum. The last point evaluated is w.
func (q *QuasiNewton) Minimize(f Smooth, w []float64) {
	if q.search == nil {
		q.search = &optimize.LinesearchMethod{NextDirectioner: &directions{optimize.LBFGS{Store: q.Memory}},
			Linesearcher: &optimize.MoreThuente{DecreaseFactor: sufficient}}
	}
	at := &optimize.Location{X: slices.Clone(w), Gradient: make([]float64, len(w))}
	d := descent{QuasiNewton: q, f: f, w: w, at: at}
	d.evaluate()
	for again := !d.enough(); again; {
		again = d.descend()
	}
}

// descent is the state of a search: w has the value, and at is the point evaluated last.
type descent struct {
	*QuasiNewton
	f     Smooth
	w     []float64
	value float64
	at    *optimize.Location
	steps int
}

// descend takes steps, at first along the gradient, and reports whether to try that once more: they have led downwards,
// are not enough, and none improves any more, by the pairs that are kept.
func (d *descent) descend() (again bool) {
	before := d.value
	next, err := d.search.Init(d.at)
	for tries := 0; err == nil && tries < mostTries; next, err = d.search.Iterate(d.at) {
		if next != optimize.MajorIteration {
			d.at.F = d.f.At(d.at.X, d.at.Gradient)
			tries++
			continue
		}
		if d.accept(); d.enough() {
			return false
		}
		tries = 0
	}
	if d.at.F < d.value { // the best point that the line search has found
		d.accept()
		return !d.enough()
	}
	copy(d.at.X, d.w)
	d.evaluate()
	return d.value < before
}

func (d *descent) evaluate() {
	d.value = d.f.At(d.at.X, d.at.Gradient)
	d.at.F = d.value
}

// accept takes a step to the point evaluated last.
func (d *descent) accept() {
	copy(d.w, d.at.X)
	d.value, d.steps = d.at.F, d.steps+1
}

func (d *descent) enough() bool {
	return d.Enough(d.steps, d.value, floats.Norm(d.at.Gradient, 2)) || d.steps >= d.MaxSteps
}

// directions are those of L-BFGS, the first of which is no longer than the gradient.
type directions struct{ optimize.LBFGS }

func (d *directions) InitDirection(at *optimize.Location, direction []float64) (length float64) {
	return min(1, d.LBFGS.InitDirection(at, direction))
}
