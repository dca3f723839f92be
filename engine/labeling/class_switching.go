package labeling

import "math"

// SwitchClasses exchanges labels between pairs of rows of two classes where that lowers the cost.
//
//	Problem  lower Σ c_iy over the rows i with labels y by exchanges of two labels, so that the class counts stay
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; most: the largest number of pairs
//	         at one visit to a pair of classes, 0 for all that help
//	Source   Keerthi, Sundararajan & Shevade 2012, algorithm 2: multiple switching of algorithm Switch, over all pairs of
//	         classes in turn. For two classes the result is an optimum; for more it may stop where only a cycle through
//	         three classes would help (Transport goes on from there)
//	Stops    no pair of rows helps, by more than the rounding of its four costs. Every exchange lowers the exact cost,
//	         so that none can come back
//	Cost     n m for the cheapest movers between classes, which also say which pairs of classes need no visit; m log n
//	         an exchange
//
// It changes labels and returns the number of pairs of rows switched.
func SwitchClasses(labels []int32, costs []float64, classes, most int) (switched int) {
	return newFrontier(labels, costs, classes).switchAll(most)
}

func (f *frontier) switchAll(most int) (switched int) {
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
	for most <= 0 || switched < most {
		forth, someForth := f.cheapest(a, b)
		back, someBack := f.cheapest(b, a)
		if !someForth || !someBack || !(forth.key+back.key < -f.rounding(forth.row, back.row, a, b)) {
			break
		}
		f.move(forth.row, b)
		f.move(back.row, a)
		switched++
	}
	return switched
}

// rounding bounds the error of the gain of an exchange as it is computed.
func (f *frontier) rounding(i, j int32, a, b int) float64 {
	ci, cj := f.costs[int(i)*f.classes:], f.costs[int(j)*f.classes:]
	largest := math.Max(math.Max(math.Abs(ci[a]), math.Abs(ci[b])), math.Max(math.Abs(cj[a]), math.Abs(cj[b])))
	return 0x1p-50 * largest
}
