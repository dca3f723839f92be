package labeling

import (
	"math"
	"slices"
)

// classGraph has the classes as nodes; the length of the arc from a to b is the least cost of moving a row of a to b.
// Potentials v prove a labeling optimal if v_b - v_a is at most that length for every arc: then no row i has a class
// with smaller c_iy - v_y than its own.
type classGraph struct {
	*frontier
	live   []int     // classes that may have rows
	length []float64 // of the arc from a to b at a classes + b; +Inf where a has no rows, or either may have none
}

func newClassGraph(f *frontier, counts []int) *classGraph {
	g := &classGraph{frontier: f, length: slices.Repeat([]float64{math.Inf(1)}, f.classes*f.classes)}
	for y, count := range counts {
		if count > 0 {
			g.live = append(g.live, y)
		}
	}
	g.updateLengths(g.live...)
	return g
}

// updateLengths computes the lengths of the arcs that leave these classes.
func (g *classGraph) updateLengths(classes ...int) {
	for _, a := range classes {
		for _, b := range g.live {
			g.length[a*g.classes+b] = g.cheapest(a, b).key
		}
	}
}

const maxArcs = 16

// shortWalks are potentials v with v_b - v_a <= length for nearly all arcs.
//
//	Problem  lengths of the shortest walks of at most maxArcs arcs that end at each class: potentials of an optimum but
//	         for longer paths; where cycles of negative length are left, near those
//	Source   Bellman 1958, in rounds over all arcs
//	Cost     m² a round
func (g *classGraph) shortWalks() (v []float64) {
	v = make([]float64, g.classes)
	for range maxArcs {
		before := slices.Clone(v)
		for _, a := range g.live {
			for b, length := range g.length[a*g.classes : (a+1)*g.classes] {
				v[b] = min(v[b], before[a]+length)
			}
		}
		if slices.Equal(v, before) {
			break
		}
	}
	return v
}

// centred are potentials in the middle of all that prove the labeling optimal, with mean 0; -Inf for a class without
// rows, which no row may choose.
//
//	Problem  every class a gives two extreme solutions, with v_a = 0: v_b = d_ab and v_b = -d_ba; their mean over all a
//	         leaves room at every arc where any solution does
//	Symbols  d_ab the length of the shortest path from a to b [m, m]
//	Source   Floyd 1962 for the paths
//	Cost     m³
func (g *classGraph) centred() []float64 {
	d, m := g.shortestPaths(), g.classes
	v := slices.Repeat([]float64{math.Inf(-1)}, m)
	for _, b := range g.live {
		v[b] = 0
		for _, a := range g.live {
			v[b] += (d[a*m+b] - d[b*m+a]) / 2 / float64(len(g.live))
		}
	}
	return v
}

func (g *classGraph) shortestPaths() []float64 {
	m, d := g.classes, slices.Clone(g.length)
	for _, via := range g.live {
		rest := d[via*m : (via+1)*m]
		for _, a := range g.live {
			row := d[a*m : (a+1)*m]
			first, diagonal := row[via], row[a]
			for b, length := range rest[:len(row)] {
				if length += first; length < row[b] {
					row[b] = length
				}
			}
			row[a] = diagonal
		}
	}
	return d
}
