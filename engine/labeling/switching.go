package labeling

import (
	"cmp"
	"math"
	"slices"
)

// Switch exchanges labels between rows of two classes where that lowers the cost, and returns the number of exchanges.
//
//	Problem  lower Σ c_iy over the rows i with labels y by exchanges of labels, so that the class counts stay
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; limit: the largest number of pairs
//	         at one visit to a pair of classes, 0 for all that help (S in the papers)
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 2: multiple switching, over all pairs of classes in turn;
//	         a percent or two above the optimum where only a cycle of classes helps. Two classes: Sindhwani & Keerthi
//	         2006 section 3.1, one visit; without a limit it ends in an optimum
//	Stops    no exchange helps by more than the rounding of its costs
//	Cost     n m for the cheapest movers between classes; m log n an exchange
func Switch(labels []int32, costs []float64, classes, limit int) (switched int) {
	f := newFrontier(labels, costs, classes)
	if classes == 2 {
		return f.switchPair(0, 1, limit)
	}
	return f.switchPairs(limit)
}

// switchPairs visits all pairs of classes in turn until none helps.
func (f *frontier) switchPairs(limit int) (switched int) {
	for {
		before := switched
		for a := range f.classes {
			for b := a + 1; b < f.classes; b++ {
				switched += f.switchPair(a, b, limit)
			}
		}
		if switched == before {
			return switched
		}
	}
}

// switchPair exchanges labels between a and b: the cheapest movers of either side first.
func (f *frontier) switchPair(a, b, limit int) (switched int) {
	for (limit <= 0 || switched < limit) && f.gain(a, b) > 0 {
		f.exchange(a, b)
		switched++
	}
	return switched
}

// SwitchPair makes the exchange of two labels with the largest gain of all pairs of classes, if any lowers Σ c_iy.
func SwitchPair(labels []int32, costs []float64, classes int) {
	f, largest, first, second := newFrontier(labels, costs, classes), 0.0, 0, 0
	for a := range classes {
		for b := a + 1; b < classes; b++ {
			if gain := f.gain(a, b); gain > largest {
				first, second, largest = a, b, gain
			}
		}
	}
	if largest > 0 {
		f.exchange(first, second)
	}
}

// rounding times the largest cost bounds the error of a gain as it is computed.
const rounding = 0x1p-49

// gain is the decrease of the cost by the cheapest exchange of labels between two classes, 0 if none lowers it.
func (f *frontier) gain(a, b int) float64 {
	there, back := f.cheapest(a, b), f.cheapest(b, a)
	if there.row < 0 || back.row < 0 {
		return 0
	}
	c, d := f.costsOf(there.row), f.costsOf(back.row)
	largest := max(math.Abs(c[a]), math.Abs(c[b]), math.Abs(d[a]), math.Abs(d[b]))
	if gain := -there.key - back.key; gain > rounding*largest {
		return gain
	}
	return 0
}

func (f *frontier) exchange(a, b int) {
	there, back := f.cheapest(a, b), f.cheapest(b, a)
	f.move(there.row, b)
	f.move(back.row, a)
}

// frontier finds, for every ordered pair of classes (a, b), the row of a that moves to b at the least cost c_ib - c_ia.
//
// A border keeps the cheapest movers of its pair, sorted, and the limit below which it has them all. An empty one is
// filled again from the rows of its class. Rows that left their class are dropped when they reach the top.
type frontier struct {
	labels   []int32
	costs    []float64
	classes  int
	members  [][]int32 // rows of each class
	position []int32   // of a row among the members of its class
	borders  []border  // of (a, b) at a classes + b
}

type border struct {
	movers []candidate
	limit  float64 // every row of the class that moves at less is in movers; what movers holds costs at most this
	keep   int     // movers kept at the next filling
}

// candidate is a row and its key: the smallest key comes first, equal keys by row number.
type candidate struct {
	key float64
	row int32
}

func (c candidate) compare(d candidate) int {
	if c.key != d.key {
		return cmp.Compare(c.key, d.key)
	}
	return cmp.Compare(c.row, d.row)
}

const moversShare = 128 // one row in this many, and one more, is kept for each border of its class

func newFrontier(labels []int32, costs []float64, classes int) *frontier {
	f := &frontier{labels: labels, costs: costs, classes: classes, members: make([][]int32, classes),
		position: make([]int32, len(labels)), borders: make([]border, classes*classes)}
	for i, a := range labels {
		f.join(int32(i), a)
	}
	for a := range classes {
		f.fill(a, 0, classes)
	}
	return f
}

func (f *frontier) costsOf(row int32) []float64 {
	return f.costs[int(row)*f.classes : (int(row)+1)*f.classes]
}

func (f *frontier) join(row, class int32) {
	f.position[row] = int32(len(f.members[class]))
	f.members[class] = append(f.members[class], row)
}

// fill finds the cheapest movers from class a to the classes first ... end-1 in one pass over the rows of a.
func (f *frontier) fill(a, first, end int) {
	borders := f.borders[a*f.classes+first : a*f.classes+end]
	for k := range borders {
		b := &borders[k]
		b.keep = max(2*b.keep, 1+len(f.members[a])/moversShare)
		b.movers, b.limit = b.movers[:0], math.Inf(1)
		if first+k == a {
			b.limit = math.Inf(-1)
		}
	}
	for _, row := range f.members[a] {
		costs := f.costsOf(row)
		here := costs[a]
		for k, there := range costs[first:end] {
			if b := &borders[k]; there-here < b.limit {
				if b.movers = append(b.movers, candidate{there - here, row}); len(b.movers) >= 2*b.keep {
					b.sort()
					b.trim()
				}
			}
		}
	}
	for k := range borders {
		borders[k].sort()
	}
}

func (b *border) sort() { slices.SortFunc(b.movers, candidate.compare) }

func (b *border) trim() { b.movers, b.limit = b.movers[:b.keep], b.movers[b.keep-1].key }

// cheapest is the row of class a that moves to b at the least cost: row -1 for +Inf without rows, for 0 to a itself.
func (f *frontier) cheapest(a, b int) candidate {
	if a == b {
		return candidate{0, -1}
	}
	border := &f.borders[a*f.classes+b]
	for {
		for ; len(border.movers) > 0; border.movers = border.movers[1:] {
			if top := border.movers[0]; f.labels[top.row] == int32(a) {
				return top
			}
		}
		if border.limit == math.Inf(1) {
			return candidate{math.Inf(1), -1}
		}
		f.fill(a, b, b+1)
	}
}

func (f *frontier) move(row int32, class int) {
	list := f.members[f.labels[row]]
	last := list[len(list)-1] // takes the place of the row
	list[f.position[row]], f.position[last] = last, f.position[row]
	f.members[f.labels[row]] = list[:len(list)-1]
	f.labels[row] = int32(class)
	f.join(row, int32(class))
	costs := f.costsOf(row)
	for y, there := range costs {
		c := candidate{there - costs[class], row}
		if b := &f.borders[class*f.classes+y]; c.key < b.limit {
			at, _ := slices.BinarySearchFunc(b.movers, c, candidate.compare)
			if b.movers = slices.Insert(b.movers, at, c); len(b.movers) >= 2*b.keep {
				b.trim()
			}
		}
	}
}
