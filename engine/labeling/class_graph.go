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
	rounds int       // over all arcs so far, in search of potentials
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

// epsilonOptimal finds potentials v with v_b - v_a <= length + ε for the smallest ε >= 0 there is.
//
//	Problem  ε is minus the smallest mean length of a cycle; v are shortest path lengths with arcs longer by ε
//	Symbols  v_b the length of the shortest walk that ends at class b, from anywhere [m]
//	Source   Bellman 1958 for the paths, in rounds over all arcs
//	Stops    a round that shortens no path, or m rounds: rounding
//	Cost     that of smallestMean, and m² a round, of which there are as many as the longest of the paths has arcs
func (g *classGraph) epsilonOptimal() (v []float64, epsilon float64) {
	v = make([]float64, g.classes)
	if mean := g.smallestMean(); mean < 0 {
		epsilon = -mean
	}
	for range g.live {
		if !g.shorten(v, epsilon) {
			break
		}
	}
	return v, epsilon
}

// shorten makes v the lengths of the shortest walks of one arc more, each arc longer by ε, where that is less.
func (g *classGraph) shorten(v []float64, epsilon float64) (shorter bool) {
	before := slices.Clone(v)
	g.rounds++
	for _, a := range g.live {
		first := before[a] + epsilon
		for b, length := range g.length[a*g.classes : (a+1)*g.classes] {
			if walk := first + length; walk < v[b] {
				v[b], shorter = walk, true
			}
		}
	}
	return shorter
}

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
