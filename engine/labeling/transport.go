package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// transport finds the cheapest labeling with given class counts, and proves it.
//
//	Problem  min Σ c_iy over the rows i with labels y, counts[y] rows for class y: a transportation problem with n
//	         sources of 1 row and m sinks. Its dual: potentials v_y and u_i = min_y (c_iy - v_y). Labels are optimal if
//	         every row has a class with the least c_iy - v_y
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], finite; counts [m], of sum n; v_y potential [m]
//	Source   Keerthi, Sundararajan & Shevade 2012 section 2.2 for the problem, and algorithm 2, which comes first. Then
//	         every row moves to the class that potentials prefer (shortWalks), and the surplus of a few rows goes along
//	         shortest paths of the class graph (Tomizawa 1971, Edmonds & Karp 1972)
//	Stops    all counts are met; each repair lowers the surplus by one
//	Cost     switching, shortWalks, and for each row of surplus m² for the path and m log n for each of its arcs
//
// labels are the start, which has these counts and decides the time. The class graph returned has the potentials.
func transport(labels []int32, costs []float64, counts []int) *classGraph {
	f := newFrontier(labels, costs, len(counts))
	f.switchPairs(0)
	g := newClassGraph(f, counts)
	v := g.shortWalks()
	g.reassign(v)
	g.balance(v, counts)
	return g
}

// greedy gives every row a label so that class y gets exactly counts[y] rows, the surest rows first.
//
//	Problem  a cheap labeling with given counts: a start for transport, not an optimum
//	Symbols  as in transport. A class with room is open; regret: cost of a row's second best open class beyond its best
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 1 steps 3-9
//	Cost     n log n + n m
func greedy(labels []int32, costs []float64, counts []int) {
	order, room, m := make([]candidate, len(labels)), slices.Clone(counts), len(counts)
	for i := range order {
		_, regret := bestOpen(costs[i*m:], room)
		order[i] = candidate{-regret, int32(i)}
	}
	slices.SortFunc(order, candidate.compare)
	for _, c := range order {
		y, _ := bestOpen(costs[int(c.row)*m:], room)
		labels[c.row] = y
		room[y]--
	}
}

// bestOpen is the cheapest class with room and its regret.
func bestOpen(costs []float64, room []int) (class int32, regret float64) {
	best, second := math.Inf(1), math.Inf(1)
	class = -1
	for y, open := range room {
		switch c := costs[y]; {
		case open <= 0:
		case c < best || class < 0:
			class, best, second = int32(y), c, best
		case c < second:
			second = c
		}
	}
	return class, second - best
}

// reassign moves every row to the class with the least c - v.
func (g *classGraph) reassign(v []float64) {
	for _, a := range g.live {
		for _, b := range g.live {
			for top := g.cheapest(a, b); v[a]+top.key < v[b]; top = g.cheapest(a, b) {
				costs := g.costsOf(top.row)
				best := g.smallest(func(y int) float64 { return costs[y] - v[y] })
				if best == a { // but for rounding it would not move
					break
				}
				g.move(top.row, best)
			}
		}
	}
	g.updateLengths(g.live...)
}

// smallest is the live class with the smallest value; -1 if none is below +Inf.
func (g *classGraph) smallest(value func(class int) float64) (class int) {
	class, smallest := -1, math.Inf(1)
	for _, y := range g.live {
		if v := value(y); v < smallest {
			class, smallest = y, v
		}
	}
	return class
}

// balance moves rows along shortest paths from classes with too many rows to classes with too few.
func (g *classGraph) balance(v []float64, counts []int) {
	surplus := func(y int) int { return len(g.members[y]) - counts[y] }
	for end := g.nearestDeficit(v, surplus); end >= 0; end = g.nearestDeficit(v, surplus) {
		for _, y := range g.live { // the arcs of the path become tight, and no arc gets too short
			v[y] += math.Min(g.distance[y], g.distance[end])
		}
		g.augment(end)
	}
}

// nearestDeficit returns the nearest class with too few rows from those with too many; -1 if none has too many. It
// finds shortest paths in the class graph with reduced lengths length + v_a - v_b >= 0 (Dijkstra 1959).
func (g *classGraph) nearestDeficit(v []float64, surplus func(int) int) (end int) {
	for _, y := range g.live {
		g.distance[y], g.from[y], g.done[y] = math.Inf(1), -1, false
		if surplus(y) > 0 {
			g.distance[y] = 0
		}
	}
	for {
		a := g.smallest(func(y int) float64 {
			if g.done[y] {
				return math.Inf(1)
			}
			return g.distance[y]
		})
		if a < 0 || surplus(a) < 0 {
			return a
		}
		g.done[a] = true
		for _, y := range g.live {
			reduced := math.Max(0, g.length[a*g.classes+y]+v[a]-v[y]) // below 0 by rounding
			if distance := g.distance[a] + reduced; !g.done[y] && distance < g.distance[y] {
				g.distance[y], g.from[y] = distance, a
			}
		}
	}
}

// augment moves the cheapest row along each arc of the path that ends at a class. Rows are chosen before any moves.
func (g *classGraph) augment(end int) {
	var rows []int32
	for b := end; g.from[b] >= 0; b = g.from[b] {
		rows = append(rows, g.cheapest(g.from[b], b).row)
	}
	for b := end; g.from[b] >= 0; b = g.from[b] {
		g.move(rows[0], b)
		rows = rows[1:]
	}
	for b := end; b >= 0; b = g.from[b] {
		g.updateLengths(b)
	}
}

// classGraph has the classes as nodes; the length of the arc from a to b is the least cost of moving a row of a to b.
// Potentials v prove a labeling optimal if v_b - v_a is at most that length for every arc: then no row i has a class
// with smaller c_iy - v_y than its own.
type classGraph struct {
	*frontier
	live   []int     // classes that may have rows
	length []float64 // of the arc from a to b at a classes + b; +Inf where a has no rows, or either may have none

	// The shortest paths of nearestDeficit to each class.
	distance []float64
	from     []int // the class before; -1 at the start
	done     []bool
}

func newClassGraph(f *frontier, counts []int) *classGraph {
	m := f.classes
	g := &classGraph{frontier: f, length: slices.Repeat([]float64{math.Inf(1)}, m*m), distance: make([]float64, m),
		from: make([]int, m), done: make([]bool, m)}
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

// centred are potentials in the middle of all that prove the labeling optimal, of mean 0; -Inf for a class of no rows.
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

// Counts turns shares, which need not sum to 1, into whole counts that sum to n by the largest remainders, the first of
// equal ones first; a class with share 0 gets no row. Remainders that differ by rounding alone count as equal.
func Counts(shares []float64, n int) []int {
	total, left := vector.Sum(shares), n
	counts, remainders, order := make([]int, len(shares)), make([]float64, len(shares)), []int(nil)
	for y, share := range shares {
		if share > 0 {
			due := math.Round(share/total*float64(n)*1e9) / 1e9
			counts[y] = int(due)
			remainders[y] = math.Round((due - math.Floor(due)) * 1e8)
			left -= counts[y]
			order = append(order, y)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(remainders[b]) - int(remainders[a]) })
	for _, y := range order[:left] {
		counts[y]++
	}
	return counts
}

func countsOf(labels []int32, classes int) []int {
	counts := make([]int, classes)
	for _, y := range labels {
		counts[y]++
	}
	return counts
}
