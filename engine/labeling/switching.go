package labeling

import "math"

// Switch exchanges labels between rows of two classes, and around three, where that lowers the cost.
//
//	Problem  lower Σ c_iy over the rows i with labels y by exchanges of labels, so that the class counts stay
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; most: the largest number of pairs
//	         at one visit to a pair of classes, 0 for all that help (S in the papers)
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 2: multiple switching of algorithm Switch, over all pairs of
//	         classes in turn. For more than two it ends where only a cycle through three or more classes would help, some
//	         tenths of a percent above the optimum. Beyond the paper: where no pair helps, three rows of three classes
//	         exchange labels in a cycle, and pairs have their turn again; what is left is a thousandth of that (Transport
//	         goes on from there). A limit on pairs keeps to pairs. Two classes: Sindhwani & Keerthi 2006 section 3.1, one
//	         visit; without a limit it ends in an optimum
//	Stops    no exchange helps, by more than the rounding of its costs. Every exchange lowers the exact cost, so that
//	         none can come back
//	Cost     n m for the cheapest movers between classes, which also show which pairs of classes need no visit; m log n
//	         an exchange; a turn of the triples as in triples.go
//
// It changes labels and returns the number of exchanges.
func Switch(labels []int32, costs []float64, classes, most int) (switched int) {
	f := newFrontier(labels, costs, classes)
	if classes == 2 {
		return f.switchPair(0, 1, most)
	}
	switched = f.switchPairs(most)
	if most > 0 {
		return switched
	}
	for {
		triples := f.switchTriples()
		if triples == 0 {
			return switched
		}
		switched += triples + f.switchPairs(0)
	}
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
	for (most <= 0 || switched < most) && f.exchangeCycle(a, b) {
		switched++
	}
	return switched
}

// exchangeCycle moves the cheapest row of each class of a cycle to the next one, if that lowers the cost.
func (f *frontier) exchangeCycle(cycle ...int) bool {
	var rows [3]int32
	f.trials++
	gain, largest := 0.0, 0.0
	next := func(k int) int { return cycle[(k+1)%len(cycle)] }
	for k, a := range cycle {
		mover, ok := f.cheapest(a, next(k))
		if !ok {
			return false
		}
		costs := f.costs[int(mover.row)*f.classes:]
		rows[k] = mover.row
		gain -= mover.key
		largest = max(largest, math.Abs(costs[a]), math.Abs(costs[next(k)]))
	}
	if !(gain > rounding*largest) {
		return false
	}
	for k := range cycle {
		f.move(rows[k], next(k))
	}
	return true
}

// rounding times the largest cost bounds the error of a gain as it is computed.
const rounding = 0x1p-49
