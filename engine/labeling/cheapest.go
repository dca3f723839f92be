package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Cheapest finds the cheapest labels that keep the class counts, or class shares where rows have unequal weights.
//
//	Problem  min Σ c_iy over the rows i with labels y, so that the rows of class y, or their weights, come to r_y of all
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m], row by row; s_i weight of the row [n]; r_y share
//	         of the class [m]; v_y potential of the class [m]
//	Source   Keerthi, Sundararajan & Shevade 2012 section 2.2; Sindhwani & Keerthi 2006 section 3.1 for two classes.
//	         Equal weights: the transportation problem with the counts nearest to the shares. Unequal weights: with the
//	         counts of soft labels made hard, as the potentials of those split a row and leave no room between classes.
//	         On one machine labels start from those of greedy, on several from soft labels at a low temperature
//	Cost     two classes: that of cheapestTwo; more: that of transport, and of Soft where it gives the start
//
// It changes labels, and returns potentials in the middle of those that prove them, with mean 0 for the classes that
// have rows: every row's label is the argmax of -c_iy + v_y. Where rows that two classes cost the same have both as
// labels the potentials are those of labels that give them one, so that rounding decides nothing. labels that keep the
// counts on entry are a start; others need not mean anything. Two classes with shares have at least one row each; where
// their costs part no rows, all rows are at margin 1 of the larger class by the potentials, and labels still keep the
// counts.
func Cheapest(job *work.Job, labels []int32, costs, weights, shares []float64) (potentials []float64) {
	if twoClasses(job, shares, len(labels)) {
		nu := cheapestTwo(job, labels, costs, weights, shares[1]/(shares[0]+shares[1]))
		return []float64{-nu / 2, nu / 2}
	}
	g := transportShares(job, labels, costs, weights, shares)
	potentials = withRoom(job, labels, costs, g.centred())
	exclude(job, potentials, costs)
	return potentials
}

// CheapestLabels is Cheapest without the potentials: to find those of m classes takes m³.
func CheapestLabels(job *work.Job, labels []int32, costs, weights, shares []float64) {
	if twoClasses(job, shares, len(labels)) {
		cheapestTwo(job, labels, costs, weights, shares[1]/(shares[0]+shares[1]))
		return
	}
	transportShares(job, labels, costs, weights, shares)
}

// transportShares gives the rows of all machines the cheapest labels, and every machine a class graph whose potentials
// prove them.
func transportShares(job *work.Job, labels []int32, costs, weights, shares []float64) *classGraph {
	ends, rows := deferredEnds(job, weights), []float64{float64(len(labels))}
	job.ReduceDeferred(rows)
	have := countsTogether(job, labels, len(shares))
	if !alike(ends) {
		harden(job, labels, costs, weights, shares, coolings[:4])
		counts := countsTogether(job, labels, len(shares))
		return withCounts(job, labels, costs, counts, counts, 2, math.MaxInt)
	}
	counts := Counts(shares, int(rows[0]))
	if job.Group == nil {
		if !slices.Equal(have, counts) {
			greedy(labels, costs, counts)
		}
		return transport(labels, costs, counts)
	}
	// Labels that are there may be near the cheapest ones, as after small changes of the costs.
	if surplus := surplusOf(have, counts); surplus == surplusOf(counts, have) && surplus <= mostMovers/2 {
		g := withCounts(job, labels, costs, counts, have, max(fewestMovers, surplus+2), mostMovers)
		if g != nil {
			return g
		}
	}
	harden(job, labels, costs, weights, shares, coolings)
	have = countsTogether(job, labels, len(shares))
	return withCounts(job, labels, costs, counts, have, surplusOf(have, counts)+2, math.MaxInt)
}

// coolings are temperatures of soft labels on the way to hard ones.
var coolings = []float64{1, 0.1, 0.01, 0.001, 1e-4}

// harden sets labels to the likeliest ones of soft labels at the last of these temperatures.
func harden(job *work.Job, labels []int32, costs, weights, shares, temperatures []float64) {
	m := len(shares)
	soft, potentials := make([]float64, len(costs)), make([]float64, m)
	for _, temperature := range temperatures {
		SoftLabels(job, soft, costs, weights, shares, temperature, potentials, Exact)
	}
	for i := range labels {
		labels[i] = int32(vector.Largest(soft[i*m : (i+1)*m]))
	}
}

// withRoom are the potentials of labels of which rows that cost the same have one; v are those of the labels that are
// there, which stay.
func withRoom(job *work.Job, labels []int32, costs, v []float64) []float64 {
	labels = slices.Clone(labels)
	for range v {
		if !untie(job, labels, costs, v) {
			break
		}
		counts := countsTogether(job, labels, len(v))
		v = withCounts(job, labels, costs, counts, counts, fewestMovers, math.MaxInt).centred()
	}
	return v
}

// tied is the difference of costs, in parts of them, that rounding may explain.
const tied = 1e-12

// untie moves rows that two classes cost the same at the potentials v, as copies of a row with different labels do, all
// to the class that has more of them: potentials of such labels have room at every border, where rounding would decide
// between the classes. It reports whether there were any on both sides.
func untie(job *work.Job, labels []int32, costs, v []float64) bool {
	m := len(v)
	eachTied := func(visit func(row, a, b int)) {
		for i, label := range labels {
			a, row := int(label), costs[i*m:(i+1)*m]
			for b, c := range row {
				size := max(math.Abs(c), math.Abs(row[a]), math.Abs(v[a]), math.Abs(v[b]))
				if b != a && c-v[b]-(row[a]-v[a]) <= tied*size && !math.IsInf(v[b], 0) {
					visit(i, a, b)
				}
			}
		}
	}
	rows, found := make([]float64, m*m), false
	eachTied(func(_, a, b int) { rows[a*m+b]++ })
	job.Reduce(rows)
	eachTied(func(row, a, b int) {
		here, there := rows[a*m+b], rows[b*m+a]
		if there > here || there == here && b < a {
			labels[row] = int32(b)
		}
	})
	for a := range m {
		for b := range a {
			found = found || rows[a*m+b] > 0 && rows[b*m+a] > 0
		}
	}
	return found
}

// exclude makes infinite potentials, of classes without rows, finite ones at which no row has such a class.
func exclude(job *work.Job, potentials, costs []float64) {
	lowest, largest := 0.0, 0.0
	for _, v := range potentials {
		if !math.IsInf(v, 0) {
			lowest = min(lowest, v)
		}
	}
	for _, c := range costs {
		largest = max(largest, math.Abs(c))
	}
	_, largest = job.Range(0, largest)
	for y, v := range potentials {
		if math.IsInf(v, 0) {
			potentials[y] = lowest - 2*largest - 1
		}
	}
}
