package labeling

import "math"

// frontier knows, for every ordered pair of classes (a, b), which row of a moves to b at the least cost c_ib - c_ia.
//
// It keeps only the cheapest movers of each pair, in order, and the limit below which it has them all. A list that
// runs empty is filled again from the rows of its class. Rows that have left their class stay in its lists until they
// come to the top.
type frontier struct {
	labels   []int32
	costs    []float64
	classes  int
	members  [][]int32 // rows of each class
	position []int32   // of a row among the members of its class
	borders  []border  // of (a, b) at a classes + b
	moves    int
}

// border holds the cheapest movers from one class to another.
type border struct {
	movers ranking
	limit  float64 // every row of the class that moves at less is in movers; what movers holds costs at most this
	keep   int     // movers kept at the next filling
}

const (
	fewestMovers = 8
	moversShare  = 128 // one row in this many is kept for each border of its class
)

func newFrontier(labels []int32, costs []float64, classes int) *frontier {
	f := &frontier{labels: labels, costs: costs, classes: classes}
	f.members = make([][]int32, classes)
	f.position = make([]int32, len(labels))
	f.borders = make([]border, classes*classes)
	for a, count := range countsOf(labels, classes) {
		f.members[a] = make([]int32, 0, count)
	}
	for i, a := range labels {
		f.join(int32(i), a)
	}
	for a := range f.members {
		f.fill(a, 0, classes)
	}
	return f
}

func (f *frontier) join(row, class int32) {
	f.position[row] = int32(len(f.members[class]))
	f.members[class] = append(f.members[class], row)
}

func (f *frontier) leave(row, class int32) {
	list := f.members[class]
	last := list[len(list)-1]
	list[f.position[row]] = last
	f.position[last] = f.position[row]
	f.members[class] = list[:len(list)-1]
}

func (f *frontier) border(a, b int) *border { return &f.borders[a*f.classes+b] }

// fill finds the cheapest movers from class a to the classes first ... end-1 in one pass over the rows of a.
func (f *frontier) fill(a, first, end int) {
	borders := f.borders[a*f.classes+first : a*f.classes+end]
	for k := range borders {
		b := &borders[k]
		b.keep = max(2*b.keep, fewestMovers, len(f.members[a])/moversShare)
		b.movers, b.limit = b.movers[:0], math.Inf(1)
		if first+k == a {
			b.limit = math.Inf(-1)
		}
	}
	for _, row := range f.members[a] {
		costs := f.costs[int(row)*f.classes : (int(row)+1)*f.classes]
		here := costs[a]
		for k, there := range costs[first:end] {
			if b := &borders[k]; there-here < b.limit {
				b.add(candidate{there - here, row})
			}
		}
	}
	for k := range borders {
		borders[k].movers.order()
	}
}

// add notes a mover in no order; at twice the number to keep, it drops the costlier half.
func (b *border) add(c candidate) {
	b.movers = append(b.movers, c)
	if len(b.movers) < 2*b.keep {
		return
	}
	b.movers.order()
	b.trim()
}

// trim drops the costlier half of twice the number to keep, or more.
func (b *border) trim() {
	if len(b.movers) >= 2*b.keep {
		b.movers = b.movers[:b.keep]
		b.limit = b.movers[b.keep-1].key
	}
}

// cheapest is the row of class a that moves to b at the least cost; there is none if a has no rows.
func (f *frontier) cheapest(a, b int) (mover candidate, ok bool) {
	border := f.border(a, b)
	for {
		for len(border.movers) > 0 {
			if top := border.movers[0]; f.labels[top.row] == int32(a) {
				return top, true
			}
			border.movers = border.movers[1:]
		}
		if border.limit == math.Inf(1) {
			return candidate{math.Inf(1), -1}, false
		}
		f.fill(a, b, b+1)
	}
}

// move gives a row another label.
func (f *frontier) move(row int32, class int) {
	f.leave(row, f.labels[row])
	f.labels[row] = int32(class)
	f.join(row, int32(class))
	f.moves++
	costs := f.costs[int(row)*f.classes : (int(row)+1)*f.classes]
	here := costs[class]
	for y, there := range costs {
		if b := f.border(class, y); there-here < b.limit {
			b.movers.push(candidate{there - here, row})
			b.trim()
		}
	}
}
