package labeling

import "math"

// transport finds the cheapest labeling with given class counts, and proves it.
//
//	Problem  min Σ c_iy over the rows i with labels y, counts[y] rows for class y: a transportation problem with n
//	         sources of 1 row and m sinks. Its dual: potentials v_y and u_i = min_y (c_iy - v_y)
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row, finite; counts [m], summing to n; v_y
//	         potential of the class [m]. The labels are optimal if every row has a class with the least c_iy - v_y. The
//	         class graph has as length of the arc (a, b) the least c_ib - c_ia over the rows of a
//	Source   Keerthi, Sundararajan & Shevade 2012 section 2.2 for the problem, which they leave to switching or a solver.
//	         Here: switching (algorithm 2); potentials that the result hardly violates (shortWalks); every row that
//	         wants another class at these potentials moves there, which leaves surpluses and deficits of a few rows;
//	         each is repaired along a shortest path (Tomizawa 1971, Edmonds & Karp 1972) in the class graph, whose lists
//	         hold only the rows near a border
//	Stops    all counts are met; each repair lowers the surplus by one
//	Cost     switching, that of shortWalks, and for each row of surplus m² for the path and m log n for each of its arcs
//
// labels are the start, which decides the time: those of greedy, or of the last call. A label below 0 is none. It
// changes labels and returns the class graph, which has the potentials.
func transport(labels []int32, costs []float64, counts []int) *classGraph {
	assignUnlabeled(labels, costs, counts)
	f := newFrontier(labels, costs, len(counts))
	f.switchPairs(0)
	g := newClassGraph(f, counts)
	v := g.shortWalks()
	g.reassign(v)
	g.balance(v, counts)
	return g
}

// assignUnlabeled gives rows without a label, or with the label of a class that gets none, their cheapest class.
func assignUnlabeled(labels []int32, costs []float64, counts []int) {
	for i, y := range labels {
		if y < 0 || counts[y] == 0 {
			labels[i], _ = bestOpen(costs[i*len(counts):], counts)
		}
	}
}

// reassign moves every row to the class with the least c - v.
func (g *classGraph) reassign(v []float64) {
	for _, a := range g.live {
		for _, b := range g.live {
			if a != b {
				g.reassignBetween(a, b, v)
			}
		}
	}
	for _, a := range g.live {
		g.updateLengths(a)
	}
}

// reassignBetween moves the rows of a that have a smaller c - v in b to the class where it is least.
func (g *classGraph) reassignBetween(a, b int, v []float64) {
	for {
		top, ok := g.cheapest(a, b)
		if !ok || !(v[a]+top.key < v[b]) {
			return
		}
		best := g.bestClass(top.row, v)
		if best == a { // but for rounding it would not move
			return
		}
		g.move(top.row, best)
	}
}

func (g *classGraph) bestClass(row int32, v []float64) (best int) {
	least := math.Inf(1)
	for _, y := range g.live {
		if reduced := g.costs[int(row)*g.classes+y] - v[y]; reduced < least {
			best, least = y, reduced
		}
	}
	return best
}

// balance moves rows along shortest paths from classes with too many rows to classes with too few.
func (g *classGraph) balance(v []float64, counts []int) {
	p := paths{classGraph: g, v: v}
	p.distance, p.from, p.done = make([]float64, g.classes), make([]int, g.classes), make([]bool, g.classes)
	surplus := func(y int) int { return len(g.members[y]) - counts[y] }
	for {
		end := p.nearestDeficit(surplus)
		if end < 0 {
			return
		}
		for _, y := range g.live { // the arcs of the path become tight, and no arc gets too short
			v[y] += math.Min(p.distance[y], p.distance[end])
		}
		p.augment(end)
	}
}

// paths finds shortest paths in the class graph with reduced lengths length + v_a - v_b >= 0 (Dijkstra 1959).
type paths struct {
	*classGraph
	v, distance []float64
	from        []int // the class before on the path; -1 at its start
	done        []bool
}

// nearestDeficit returns the nearest class with too few rows from those with too many; -1 if none has too many.
func (p *paths) nearestDeficit(surplus func(int) int) (end int) {
	for _, y := range p.live {
		p.distance[y], p.from[y], p.done[y] = math.Inf(1), -1, false
		if surplus(y) > 0 {
			p.distance[y] = 0
		}
	}
	for {
		next := p.nearest()
		if next < 0 || surplus(next) < 0 {
			return next
		}
		p.relax(next)
	}
}

// nearest is the class with the smallest distance of those that are not done; -1 if none can be reached.
func (p *paths) nearest() (class int) {
	class, least := -1, math.Inf(1)
	for _, y := range p.live {
		if !p.done[y] && p.distance[y] < least {
			class, least = y, p.distance[y]
		}
	}
	return class
}

// relax shortens the paths that pass class a last.
func (p *paths) relax(a int) {
	p.done[a] = true
	lengths := p.length[a*p.classes : (a+1)*p.classes]
	for _, y := range p.live {
		reduced := math.Max(0, lengths[y]+p.v[a]-p.v[y]) // below 0 by rounding
		if distance := p.distance[a] + reduced; !p.done[y] && distance < p.distance[y] {
			p.distance[y], p.from[y] = distance, a
		}
	}
}

// augment moves the cheapest row along each arc of the path that ends at a class. Rows are chosen before any moves.
func (p *paths) augment(end int) {
	var rows []int32
	for b := end; p.from[b] >= 0; b = p.from[b] {
		mover, _ := p.cheapest(p.from[b], b)
		rows = append(rows, mover.row)
	}
	for b := end; p.from[b] >= 0; b = p.from[b] {
		p.move(rows[0], b)
		rows = rows[1:]
	}
	for b := end; b >= 0; b = p.from[b] {
		p.updateLengths(b)
	}
}
