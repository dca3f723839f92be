package labeling

import "math"

// simplex finds the cheapest labeling with given class counts by the transportation simplex method: the reference that
// Transport is held against, for tests and measurements.
//
//	Problem  that of Transport
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; counts [m], summing to n; u_i, v_y
//	         potentials of rows and classes; a basis is a spanning tree of n + m - 1 cells (i, y) of the tableau
//	Source   Keerthi, Sundararajan & Shevade 2012 section 2.2; Dantzig 1951 for the method (u-v or MODI): the cell with
//	         the most negative c_iy - u_i - v_y enters, the loop that it closes in the tree gives the cell that leaves.
//	         Against cycling every row supplies a little more than 1 and one class takes all of it (Charnes 1952), in
//	         whole numbers: no basis is degenerate, so that every pivot lowers the cost
//	Stops    no cell is below 0 by more than rounding
//	Cost     n m a pivot
//
// It returns the labels, their total cost and the number of pivots.
func simplex(costs []float64, counts []int) (labels []int32, total float64, pivots int) {
	t := newTableau(costs, counts)
	if t.rows == 0 {
		return nil, 0, 0
	}
	t.start(counts)
	for {
		t.price()
		row, column, ok := t.entering()
		if !ok {
			break
		}
		t.pivot(row, column)
		pivots++
	}
	labels = t.labels()
	return labels, Total(labels, costs, len(counts)), pivots
}

// tableau is a transportation problem with its basis. A supply of 1 is unit, plus 1 for the perturbation.
type tableau struct {
	costs     []float64
	stride    int    // classes, with those that get no rows
	classes   []int  // of the columns
	rows      int    // n
	unit      int    // more than 2 n, so that the perturbation can be told from a row
	cells     []cell // the basis
	u, v      []float64
	touching  [][]int32 // cells of a node: rows come first, then columns
	above     []int32   // cell that leads from a node to the root of the tree
	depth     []int32
	tolerance float64
}

type cell struct{ row, column, amount int }

func newTableau(costs []float64, counts []int) *tableau {
	t := &tableau{costs: costs, stride: len(counts)}
	for y, count := range counts {
		t.rows += count
		if count > 0 {
			t.classes = append(t.classes, y)
		}
	}
	t.unit = 2*t.rows + 2
	nodes := t.rows + len(t.classes)
	t.u, t.v = make([]float64, t.rows), make([]float64, len(t.classes))
	t.touching, t.above, t.depth = make([][]int32, nodes), make([]int32, nodes), make([]int32, nodes)
	for _, c := range costs {
		t.tolerance = math.Max(t.tolerance, 1e-13*math.Abs(c))
	}
	return t
}

func (t *tableau) cost(row, column int) float64 { return t.costs[row*t.stride+t.classes[column]] }

// start gives one row after the other to the cheapest classes with room.
func (t *tableau) start(counts []int) {
	room := make([]int, len(t.classes))
	for k, y := range t.classes {
		room[k] = counts[y] * t.unit
	}
	room[len(room)-1] += t.rows
	for i := range t.rows {
		for supply := t.unit + 1; supply > 0; {
			best := -1
			for k := range room {
				if room[k] > 0 && (best < 0 || t.cost(i, k) < t.cost(i, best)) {
					best = k
				}
			}
			amount := min(supply, room[best])
			t.link(len(t.cells), cell{i, best, amount})
			supply -= amount
			room[best] -= amount
		}
	}
}

// link puts a cell into the basis at place k.
func (t *tableau) link(k int, c cell) {
	if k == len(t.cells) {
		t.cells = append(t.cells, c)
	}
	t.cells[k] = c
	for _, node := range []int{c.row, t.rows + c.column} {
		t.touching[node] = append(t.touching[node], int32(k))
	}
}

// unlink takes the cell at place k out of the basis.
func (t *tableau) unlink(k int) {
	for _, node := range []int{t.cells[k].row, t.rows + t.cells[k].column} {
		list := t.touching[node]
		for j := range list {
			if list[j] == int32(k) {
				list[j] = list[len(list)-1]
				t.touching[node] = list[:len(list)-1]
				break
			}
		}
	}
}

// price walks through the tree from the first column and sets u + v = c on its cells.
func (t *tableau) price() {
	root := t.rows
	t.v[0], t.above[root], t.depth[root] = 0, -1, 0
	waiting := []int{root}
	for len(waiting) > 0 {
		node := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for _, k := range t.touching[node] {
			if k == t.above[node] {
				continue
			}
			c := t.cells[k]
			next := c.row
			if node < t.rows {
				next = t.rows + c.column
				t.v[c.column] = t.cost(c.row, c.column) - t.u[c.row]
			} else {
				t.u[c.row] = t.cost(c.row, c.column) - t.v[c.column]
			}
			t.above[next], t.depth[next] = k, t.depth[node]+1
			waiting = append(waiting, next)
		}
	}
}

// entering is the cell with the most negative reduced cost.
func (t *tableau) entering() (row, column int, ok bool) {
	least := -t.tolerance
	for i := range t.rows {
		for k := range t.classes {
			if reduced := t.cost(i, k) - t.u[i] - t.v[k]; reduced < least {
				row, column, least, ok = i, k, reduced, true
			}
		}
	}
	return row, column, ok
}

// pivot brings a cell into the basis: along the loop that it closes amounts fall and rise in turn, and the cell that
// falls to 0 leaves.
func (t *tableau) pivot(row, column int) {
	falling, rising := t.loop(row, t.rows+column)
	leaving := falling[0]
	for _, k := range falling {
		if t.cells[k].amount < t.cells[leaving].amount {
			leaving = k
		}
	}
	amount := t.cells[leaving].amount
	for _, k := range falling {
		t.cells[k].amount -= amount
	}
	for _, k := range rising {
		t.cells[k].amount += amount
	}
	t.unlink(int(leaving))
	t.link(int(leaving), cell{row, column, amount})
}

// loop lists the cells on the path between two nodes, those next to either end falling.
func (t *tableau) loop(a, b int) (falling, rising []int32) {
	fallA, fallB := true, true
	for a != b {
		end, fall := &a, &fallA
		if t.depth[a] < t.depth[b] {
			end, fall = &b, &fallB
		}
		k := t.above[*end]
		if *fall {
			falling = append(falling, k)
		} else {
			rising = append(rising, k)
		}
		*fall = !*fall
		if c := t.cells[k]; *end < t.rows {
			*end = t.rows + c.column
		} else {
			*end = c.row
		}
	}
	return falling, rising
}

// labels reads the solution without the perturbation: a row has the class that gets about unit of it and not a few.
func (t *tableau) labels() []int32 {
	labels := make([]int32, t.rows)
	for _, c := range t.cells {
		if c.amount > t.unit/2 {
			labels[c.row] = int32(t.classes[c.column])
		}
	}
	return labels
}
