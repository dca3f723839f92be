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
//	         rows move around cycles of negative length of the class graph (Klein 1967)
//	Stops    no cycle is shorter than rounding explains
//	Cost     switching, and for each cycle some rounds of m², and m log n for each of its arcs
//
// labels are the start, which decides the time. The class graph returned has the potentials.
func transport(labels []int32, costs []float64, least, most []int) *classGraph {
	f := newFrontier(labels, costs, len(most))
	f.keepBounds(least, most)
	f.switchPairs(0)
	n := f.classes + 1
	g := &classGraph{frontier: f, least: least, most: most, length: slices.Repeat([]float64{math.Inf(1)}, n*n),
		walk: make([]float64, n)}
	for y, count := range most {
		if count > 0 {
			g.live = append(g.live, y)
		}
	}
	g.updateLengths(g.live...)
	for g.findCycle() {
		g.augment()
	}
	g.live = slices.DeleteFunc(g.live, func(y int) bool { return len(g.members[y]) == 0 })
	return g
}

// keepBounds moves the cheapest rows of classes with too many, and then to classes with too few.
func (f *frontier) keepBounds(least, most []int) {
	for a := range most {
		for len(f.members[a]) > most[a] {
			if !f.moveCheapest(func(b int) (from, to int, open bool) { return a, b, len(f.members[b]) < most[b] }) {
				return
			}
		}
	}
	for b := range least {
		for len(f.members[b]) < least[b] {
			if !f.moveCheapest(func(a int) (from, to int, open bool) { return a, b, len(f.members[a]) > least[a] }) {
				return
			}
		}
	}
}

// moveCheapest makes the cheapest of the moves that are open; false: there is none, as costs are not finite.
func (f *frontier) moveCheapest(move func(class int) (from, to int, open bool)) bool {
	best, class := candidate{math.Inf(1), -1}, 0
	for y := range f.classes {
		if from, to, open := move(y); open {
			if top := f.cheapest(from, to); top.key < best.key {
				best, class = top, to
			}
		}
	}
	if best.row >= 0 {
		f.move(best.row, class)
	}
	return best.row >= 0
}

// classGraph has the classes as nodes; the length of the arc from a to b is the least cost of moving a row of a to b.
// Potentials v prove a labeling optimal if v_b - v_a is at most that length for every arc: then no row i has a class
// with smaller c_iy - v_y than its own.
//
// Node m is no class: arcs of length 0 lead to it from classes that may get a row, from it to those that may lose one.
type classGraph struct {
	*frontier
	least, most []int
	live        []int     // classes that may have rows; in the end those that do
	length      []float64 // of the arc from a to b at a (m + 1) + b; +Inf where there is none
	tolerance   float64   // of lengths, by the largest cost of a row on an arc
	walk        []float64 // length of the shortest walk found to each node, but for those around cycles
	from        []int     // the node before on it; -1 where it starts
}

// updateLengths computes the lengths of the arcs that leave these classes, and those at node m.
func (g *classGraph) updateLengths(classes ...int) {
	m, n := g.classes, g.classes+1
	for _, y := range g.live {
		for _, a := range classes {
			top := g.cheapest(a, y)
			if g.length[a*n+y] = top.key; top.row >= 0 {
				costs := g.costsOf(top.row)
				g.tolerance = max(g.tolerance, tied*math.Abs(costs[a]), tied*math.Abs(costs[y]))
			}
		}
		g.length[y*n+m], g.length[m*n+y] = math.Inf(1), math.Inf(1)
		if len(g.members[y]) < g.most[y] {
			g.length[y*n+m] = 0
		}
		if len(g.members[y]) > g.least[y] {
			g.length[m*n+y] = 0
		}
	}
}

// findCycle shortens walks (Bellman 1958) until one has a cycle, whose length is negative, or none becomes shorter.
func (g *classGraph) findCycle() bool {
	n := g.classes + 1
	g.from = slices.Repeat([]int{-1}, n)
	for shorter := true; shorter; {
		shorter = false
		for a, walk := range g.walk {
			for b, length := range g.length[a*n : (a+1)*n] {
				if walk+length < g.walk[b]-g.tolerance {
					g.walk[b], g.from[b], shorter = walk+length, a, true
				}
			}
		}
		if g.onCycle() >= 0 {
			return true
		}
	}
	return false
}

// onCycle is a node of a cycle in the walks, or -1.
func (g *classGraph) onCycle() int {
	for y := range g.from {
		for k := 0; y >= 0 && k < len(g.from); k++ {
			y = g.from[y]
		}
		if y >= 0 {
			return y
		}
	}
	return -1
}

// augment moves the cheapest row along each arc of the cycle. Rows are chosen before any moves.
func (g *classGraph) augment() {
	var classes []int // that get rows, and then those that lose them
	var rows []int32
	for b := g.onCycle(); g.from[b] >= 0; g.from[b], b = -1, g.from[b] {
		if a := g.from[b]; max(a, b) < g.classes {
			classes, rows = append(classes, b), append(rows, g.cheapest(a, b).row)
		}
	}
	for k, row := range rows {
		classes = append(classes, int(g.labels[row]))
		g.move(row, classes[k])
	}
	g.updateLengths(classes...)
}

// centred are potentials in the middle of all that prove the labeling optimal, of mean 0; -Inf for a class of no rows.
//
//	Problem  every class a gives two extreme solutions, with v_a = 0: v_b = d_ab and v_b = -d_ba; their mean over all a
//	         leaves room at every arc where any solution does
//	Symbols  d_ab the length of the shortest path from a to b [m, m]
//	Source   Floyd 1962 for the paths
//	Cost     m³
func (g *classGraph) centred() []float64 {
	d, n := g.shortestPaths(), g.classes+1
	v := slices.Repeat([]float64{math.Inf(-1)}, g.classes)
	for _, b := range g.live {
		v[b] = 0
		for _, a := range g.live {
			v[b] += (d[a*n+b] - d[b*n+a]) / 2 / float64(len(g.live))
		}
	}
	return v
}

func (g *classGraph) shortestPaths() []float64 {
	n, d := g.classes+1, slices.Clone(g.length)
	for _, via := range g.live {
		rest := d[via*n : (via+1)*n]
		for _, a := range g.live {
			row := d[a*n : (a+1)*n]
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

func countsOf(labels []int32, classes int) []int {
	counts := make([]int, classes)
	for _, y := range labels {
		counts[y]++
	}
	return counts
}
