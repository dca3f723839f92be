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

// SwitchPair makes the exchange of two labels that lowers Σ c_iy most, of all pairs of classes, if any lowers it.
func SwitchPair(labels []int32, costs []float64, classes int) {
	f, most := newFrontier(labels, costs, classes), 0.0
	var pair [2]int
	for a := range classes {
		for b := a + 1; b < classes; b++ {
			if gain := f.gain(a, b); gain > most {
				pair, most = [2]int{a, b}, gain
			}
		}
	}
	if most > 0 {
		f.exchange(pair[0], pair[1])
	}
}

// gain is what the cheapest exchange of labels between two classes lowers the cost by, 0 if none does.
func (f *frontier) gain(a, b int) float64 {
	there, some := f.cheapest(a, b)
	back, others := f.cheapest(b, a)
	if !some || !others {
		return 0
	}
	largest := 0.0
	for _, row := range []int32{there.row, back.row} {
		costs := f.costs[int(row)*f.classes:]
		largest = max(largest, math.Abs(costs[a]), math.Abs(costs[b]))
	}
	if gain := -there.key - back.key; gain > rounding*largest {
		return gain
	}
	return 0
}

// exchange gives the cheapest row of each of two classes the label of the other, if that lowers the cost.
func (f *frontier) exchange(a, b int) bool {
	if f.gain(a, b) == 0 {
		return false
	}
	there, _ := f.cheapest(a, b)
	back, _ := f.cheapest(b, a)
	f.move(there.row, b)
	f.move(back.row, a)
	return true
}

// rounding times the largest cost bounds the error of a gain as it is computed.
const rounding = 0x1p-49
