package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// transport finds the cheapest labeling with class counts within bounds, and proves it.
//
//	Problem  min Σ c_iy over the rows i with labels y, least[y] to most[y] rows for class y, which differ by one at most:
//	         a transportation problem with n sources of 1 row and m sinks. Its dual: potentials v_y and
//	         u_i = min_y (c_iy - v_y). Labels are optimal if every row has a class with the least c_iy - v_y
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], finite; v_y potential [m]
//	Source   Keerthi, Sundararajan & Shevade 2012 section 2.2 for the problem, and algorithm 2, which comes first. Then
//	         every row moves to the class that potentials prefer (shortWalks), and the surplus of a few rows goes along
//	         shortest paths of the class graph (Tomizawa 1971, Edmonds & Karp 1972)
//	Stops    all counts are met; each repair lowers the surplus by one
//	Cost     switching, shortWalks, and for each row of surplus m² for the path and m log n for each of its arcs
//
// labels are the start, which is within the bounds and decides the time. The class graph returned has the potentials.
func transport(labels []int32, costs []float64, least, most []int) *classGraph {
	f, counts := newFrontier(labels, costs, len(most)), countsOf(labels, len(most))
	f.switchPairs(0)
	g := newClassGraph(f, most)
	v := g.shortWalks()
	g.reassign(v)
	g.balance(v, counts)
	if !slices.Equal(least, most) {
		g.choose(v, least, most)
	}
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
	start := func(y int) float64 {
		if surplus(y) > 0 {
			return 0
		}
		return math.Inf(1)
	}
	for end := g.walk(v, start, surplus); end >= 0; end = g.walk(v, start, surplus) {
		g.tighten(v, end)
		g.augment(end)
	}
}

// choose moves rows along shortest paths from classes with more than their least rows to classes with fewer than their
// most, as long as that lowers the cost: which class gets a row more is for the costs to say, not for its number.
func (g *classGraph) choose(v []float64, least, most []int) {
	for range g.live {
		highest, size := slices.Max(v), 0.0
		for _, y := range g.live {
			size = max(size, math.Abs(v[y]))
		}
		g.walk(v, func(y int) float64 {
			if len(g.members[y]) > least[y] {
				return highest - v[y]
			}
			return math.Inf(1)
		}, func(int) int { return 0 })
		length := func(y int) float64 { return g.distance[y] - (highest - v[y]) }
		end := g.smallest(func(y int) float64 {
			if len(g.members[y]) < most[y] {
				return length(y)
			}
			return math.Inf(1)
		})
		if end < 0 || !(length(end) < -tied*size) {
			break
		}
		g.tighten(v, end)
		g.augment(end)
	}
	g.live = slices.DeleteFunc(g.live, func(y int) bool { return len(g.members[y]) == 0 })
}

// tighten changes potentials so that the arcs of the shortest path to a class are tight, and no arc is too short.
func (g *classGraph) tighten(v []float64, end int) {
	for _, y := range g.live {
		v[y] += math.Min(g.distance[y], g.distance[end])
	}
}

// walk finds shortest paths in the class graph with reduced lengths length + v_a - v_b >= 0 (Dijkstra 1959), from
// classes at these distances. It returns the nearest class with a surplus below 0, at which it ends, or -1.
func (g *classGraph) walk(v []float64, start func(int) float64, surplus func(int) int) (end int) {
	for _, y := range g.live {
		g.distance[y], g.from[y], g.done[y] = start(y), -1, false
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
	live   []int     // classes that may have rows; in the end those that do
	length []float64 // of the arc from a to b at a classes + b; +Inf where a has no rows, or either may have none

	// The shortest paths of walk to each class.
	distance []float64
	from     []int // the class before; -1 at the start
	done     []bool
}

func newClassGraph(f *frontier, most []int) *classGraph {
	m := f.classes
	g := &classGraph{frontier: f, length: slices.Repeat([]float64{math.Inf(1)}, m*m), distance: make([]float64, m),
		from: make([]int, m), done: make([]bool, m)}
	for y, count := range most {
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

// bounds are the numbers of n rows that classes with these shares, which need not sum to 1, can get by the largest
// remainders: of classes with equal remainders any may get the rows that are left. A class with share 0 gets none.
// Remainders that differ by rounding alone count as equal.
func bounds(shares []float64, n int) (least, most []int) {
	total, left := vector.Sum(shares), n
	least, remainders, order := make([]int, len(shares)), make([]float64, len(shares)), []int(nil)
	for y, share := range shares {
		if share > 0 {
			due := math.Round(share/total*float64(n)*1e9) / 1e9
			least[y] = int(due)
			remainders[y] = math.Round((due - math.Floor(due)) * 1e8)
			left -= least[y]
			order = append(order, y)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(remainders[b]) - int(remainders[a]) })
	most = slices.Clone(least)
	for k, y := range order {
		if k < left || left > 0 && remainders[y] == remainders[order[left-1]] {
			most[y]++
		}
		if left == len(order) || k < left && remainders[y] > remainders[order[left]] {
			least[y]++
		}
	}
	return least, most
}

// within are counts that sum to n: the first classes get more than their least rows.
func within(least, most []int, n int) []int {
	counts, left := slices.Clone(least), n
	for _, count := range least {
		left -= count
	}
	for y := range counts {
		more := min(left, most[y]-least[y])
		counts[y] += more
		left -= more
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
