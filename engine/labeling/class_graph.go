package labeling

import "math"

// classGraph has the classes as nodes and, as length of the arc from a to b, what the move of the cheapest row of a to
// b costs. Potentials v prove a labeling optimal if v_b - v_a is at most that length for every arc: then no row i has a
// class with smaller c_iy - v_y than its own.
type classGraph struct {
	*frontier
	live   []int     // classes that may have rows
	length []float64 // of the arc from a to b at a classes + b; +Inf where a has no rows
}

func newClassGraph(f *frontier, counts []int) *classGraph {
	g := &classGraph{frontier: f, length: make([]float64, f.classes*f.classes)}
	for y, count := range counts {
		if count > 0 {
			g.live = append(g.live, y)
		}
	}
	for _, a := range g.live {
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
//	Symbols  w_k(b) the length of the shortest walk of k arcs that ends at class b, from anywhere [m + 1, m]
//	Source   Karp 1978: the smallest mean is min_b max_k (w_m(b) - w_k(b)) / (m - k)
//	Cost     m³
func (g *classGraph) epsilonOptimal() (v []float64, epsilon float64) {
	m := len(g.live)
	walks := g.walks()
	mean := math.Inf(1)
	for b := range m {
		worst := math.Inf(-1)
		for k := range m {
			worst = math.Max(worst, (walks[m][b]-walks[k][b])/float64(m-k))
		}
		if !math.IsNaN(worst) && !math.IsInf(walks[m][b], 1) {
			mean = math.Min(mean, worst)
		}
	}
	epsilon = math.Max(0, -mean)
	v = make([]float64, g.classes)
	for j, b := range g.live {
		v[b] = math.Inf(1)
		for k := range m {
			v[b] = math.Min(v[b], walks[k][j]+float64(k)*epsilon)
		}
	}
	return v, epsilon
}

func (g *classGraph) walks() [][]float64 {
	m := len(g.live)
	walks := make([][]float64, m+1)
	walks[0] = make([]float64, m)
	for k := range m {
		walks[k+1] = make([]float64, m)
		for j, b := range g.live {
			shortest := math.Inf(1)
			for i, a := range g.live {
				if i != j {
					shortest = math.Min(shortest, walks[k][i]+g.length[a*g.classes+b])
				}
			}
			walks[k+1][j] = shortest
		}
	}
	return walks
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
	m := g.classes
	d := append([]float64(nil), g.length...)
	for _, via := range g.live {
		for _, a := range g.live {
			first := d[a*m+via]
			for _, b := range g.live {
				if length := first + d[via*m+b]; length < d[a*m+b] && a != b {
					d[a*m+b] = length
				}
			}
		}
	}
	return d
}
