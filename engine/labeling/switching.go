package labeling

import "math"

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

// exchange gives the cheapest row of each of two classes the other label.
func (f *frontier) exchange(a, b int) {
	there, back := f.cheapest(a, b), f.cheapest(b, a)
	f.move(there.row, b)
	f.move(back.row, a)
}
