package labeling

import "math"

// Switch exchanges labels between rows of two classes where that lowers the cost.
//
//	Problem  lower Σ c_iy over the rows i with labels y by exchanges of labels, so that the class counts stay
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; most: the largest number of pairs
//	         at one visit to a pair of classes, 0 for all that help (S in the papers)
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 2: multiple switching of algorithm Switch, over all pairs of
//	         classes in turn. For more than two it ends where only a cycle through three or more classes would help, a
//	         percent or two above the optimum (transport goes on from there). Two classes: Sindhwani & Keerthi 2006
//	         section 3.1, one visit; without a limit it ends in an optimum
//	Stops    no exchange helps, by more than the rounding of its costs. Every exchange lowers the exact cost, so that
//	         none can come back
//	Cost     n m for the cheapest movers between classes, which also show which pairs of classes need no visit; m log n
//	         an exchange
//
// It changes labels and returns the number of exchanges.
func Switch(labels []int32, costs []float64, classes, most int) (switched int) {
	f := newFrontier(labels, costs, classes)
	if classes == 2 {
		return f.switchPair(0, 1, most)
	}
	return f.switchPairs(most)
}

// switchPairs visits all pairs of classes in turn until none helps.
func (f *frontier) switchPairs(most int) (switched int) {
	for {
		before := switched
		for a := range f.classes {
			for b := a + 1; b < f.classes; b++ {
				switched += f.switchPair(a, b, most)
			}
		}
		if switched == before {
			return switched
		}
	}
}

// switchPair exchanges labels between a and b: the cheapest movers of either side first.
func (f *frontier) switchPair(a, b, most int) (switched int) {
	for (most <= 0 || switched < most) && f.exchange(a, b) {
		switched++
	}
	return switched
}

// exchange gives the cheapest row of each of two classes the label of the other, if that lowers the cost.
func (f *frontier) exchange(a, b int) bool {
	there, some := f.cheapest(a, b)
	back, others := f.cheapest(b, a)
	if !some || !others {
		return false
	}
	largest := 0.0
	for _, row := range []int32{there.row, back.row} {
		costs := f.costs[int(row)*f.classes:]
		largest = max(largest, math.Abs(costs[a]), math.Abs(costs[b]))
	}
	if !(-there.key-back.key > rounding*largest) {
		return false
	}
	f.move(there.row, b)
	f.move(back.row, a)
	return true
}

// rounding times the largest cost bounds the error of a gain as it is computed.
const rounding = 0x1p-49
