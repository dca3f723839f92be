package labeling

import (
	"math"
	"slices"
)

// classGraph has the classes as nodes and, as length of the arc from a to b, what the move of the cheapest row of a to
// b costs. Potentials v prove a labeling optimal if v_b - v_a is at most that length for every arc: then no row i has a
// class with smaller c_iy - v_y than its own.
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
	for _, a := range g.live {
		g.length[a*g.classes+a] = 0
		g.updateLengths(a)
	}
	return g
}

// updateLengths computes the lengths of the arcs that leave a class.
func (g *classGraph) updateLengths(a int) {
	for _, b := range g.live {
		if a != b {
			top, _ := g.cheapest(a, b)
			g.length[a*g.classes+b] = top.key
		}
	}
}

// shortWalks are potentials v with v_b - v_a <= length for nearly all arcs.
//
//	Problem  lengths of the shortest walks that end at each class, from anywhere, of at most mostArcs arcs: potentials of
//	         an optimum but for longer paths; where cycles of negative length are left, near those
//	Source   Bellman 1958, in rounds over all arcs
//	Cost     m² a round
func (g *classGraph) shortWalks() (v []float64) {
	v = make([]float64, g.classes)
	for arcs, shorter := 0, true; shorter && arcs < mostArcs; arcs++ {
		before := slices.Clone(v)
		shorter = false
		for _, a := range g.live {
			for b, length := range g.length[a*g.classes : (a+1)*g.classes] {
				if walk := before[a] + length; walk < v[b] {
					v[b], shorter = walk, true
				}
			}
		}
	}
	return v
}

// mostArcs: 8 to 64 take the same time for 5,581 rows and 10 classes to 2,000 and 1,000.
const mostArcs = 16

// centred are potentials in the middle of all that prove the labeling optimal, with mean 0.
//
//	Problem  every class a gives two extreme solutions, with v_a = 0: v_b = d_ab and v_b = -d_ba; their mean over all a
//	         leaves room at every arc where any solution does
//	Symbols  d_ab the length of the shortest path from a to b [m, m]
//	Source   Floyd 1962 for the paths
//	Cost     m³
//
// A class without rows gets -Inf: no row may choose it.
func (g *classGraph) centred() []float64 {
	d := g.shortestPaths()
	v := make([]float64, g.classes)
	for y := range v {
		v[y] = math.Inf(-1)
	}
	m := g.classes
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
			first, own := row[via], row[a]
			for b, length := range rest[:len(row)] {
				if length += first; length < row[b] {
					row[b] = length
				}
			}
			row[a] = own
		}
	}
	return d
}
