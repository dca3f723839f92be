package labeling

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Cheapest finds the cheapest labels that keep the class counts, or class shares where rows have unequal weights.
//
//	Problem  min Σ c_iy over the rows i with labels y, so that the rows of class y, or their weights, come to r_y of all
//	Symbols  n rows, m classes; c_iy cost of label y for row i [n, m]; s_i weight [n]; r_y share [m]; v_y potential [m]
//	Source   Keerthi, Sundararajan & Shevade 2012 section 2.2; Sindhwani & Keerthi 2006 section 3.1 for two classes.
//	         Equal weights: the transportation problem. Unequal weights: with the counts of hardened soft labels, whose
//	         own potentials would split a row. Several machines: of more than two classes each does this with all costs
//	Cost     two classes: cheapestTwo; more: transport, and SoftLabels; of all machines' rows 8 m bytes a row on each
//
// It changes labels, which are a start unless all are 0. Calling potentials costs m³; it returns the midpoint of all
// optimal dual solutions, with mean 0 over the classes with rows. A row's label is the argmax of v_y - c_iy.
func Cheapest(job *work.Job, labels []int32, costs, weights, shares []float64) (potentials func() []float64) {
	if twoClasses(job, shares, len(labels)) {
		nu := cheapestTwo(job, labels, costs, weights, shares[1]/(shares[0]+shares[1]))
		return func() []float64 { return []float64{-nu / 2, nu / 2} }
	}
	numbers := make([]float64, len(labels))
	for i, y := range labels {
		numbers[i] = float64(y)
	}
	numbers, first := job.Gather(numbers)
	costs, _ = job.Gather(costs)
	weights, _ = job.Gather(weights)
	all := make([]int32, len(numbers))
	for i, y := range numbers {
		all[i] = int32(y)
	}
	least, most := bounds(shares, len(all))
	if len(weights) > 0 && slices.Min(weights) < slices.Max(weights) {
		harden(job.Local(), all, costs, weights, shares)
		least = countsOf(all, len(shares))
		most = least
	} else if countsOf(all, len(shares))[0] == len(all) { // no start
		for i := range all {
			all[i] = int32(floats.MinIdx(costs[i*len(shares) : (i+1)*len(shares)]))
		}
	}
	g := transport(all, costs, least, most)
	copy(labels, all[first:])
	return func() []float64 {
		v := withRoom(all, costs, g.centred())
		exclude(v, costs)
		return v
	}
}

// harden sets each label to the most probable soft label at a low temperature.
func harden(job *work.Job, labels []int32, costs, weights, shares []float64) {
	m := len(shares)
	soft, potentials := make([]float64, len(costs)), make([]float64, m)
	for temperature := 1.0; temperature >= 1e-3; temperature /= 10 {
		SoftLabels(job, soft, costs, weights, shares, potentials, temperature, Exact)
	}
	for i := range labels {
		labels[i] = int32(vector.Largest(soft[i*m : (i+1)*m]))
	}
}

// withRoom returns the potentials of the labels that untie makes from a copy of labels; v are those of labels.
func withRoom(labels []int32, costs, v []float64) []float64 {
	labels = slices.Clone(labels)
	for range v {
		if !untie(labels, costs, v) {
			break
		}
		counts := countsOf(labels, len(v))
		v = transport(labels, costs, counts, counts).centred()
	}
	return v
}

// tied is the relative difference of costs that rounding may explain.
const tied = 1e-12

// untie moves rows that cost the same in two classes at the potentials v to the class that has more of them, as copies
// of a row with different labels: otherwise rounding would decide. It reports whether both classes had such rows.
func untie(labels []int32, costs, v []float64) (moved bool) {
	m := len(v)
	rows, ties := make([]float64, m*m), [][3]int(nil)
	for i, label := range labels {
		a, row := int(label), costs[i*m:(i+1)*m]
		for b, c := range row {
			size := max(math.Abs(c), math.Abs(row[a]), math.Abs(v[a]), math.Abs(v[b]))
			if b != a && c-v[b]-(row[a]-v[a]) <= tied*size && !math.IsInf(v[b], 0) {
				rows[a*m+b]++
				ties = append(ties, [3]int{i, a, b})
			}
		}
	}
	for _, tie := range ties {
		row, a, b := tie[0], tie[1], tie[2]
		if here, there := rows[a*m+b], rows[b*m+a]; there > here || there == here && b < a {
			labels[row] = int32(b)
		}
	}
	for k, here := range rows {
		moved = moved || here > 0 && rows[k%m*m+k/m] > 0
	}
	return moved
}

// exclude replaces the infinite potentials of classes without rows by finite ones so low that no row gets such a class.
func exclude(potentials, costs []float64) {
	lowest, largest := 0.0, floats.Norm(costs, math.Inf(1))
	for _, v := range potentials {
		if !math.IsInf(v, 0) {
			lowest = min(lowest, v)
		}
	}
	for y, v := range potentials {
		if math.IsInf(v, 0) {
			potentials[y] = lowest - 2*largest - 1
		}
	}
}

// Finite replaces costs [n, m] of +Inf, for classes that a row cannot have, by large ones.
//
//	Problem  a number M with which the cheapest labels have as few forbidden labels as possible
//	Source   the cheapest labels differ from others by exchanges around cycles of at most m classes, each at most the
//	         range of finite costs: M is m + 1 ranges beyond the largest cost. A larger number would lose digits
func Finite(job *work.Job, costs []float64, classes int) {
	smallest, largest := math.Inf(1), math.Inf(-1)
	for _, c := range costs {
		if !math.IsInf(c, 1) {
			smallest, largest = min(smallest, c), max(largest, c)
		}
	}
	smallest, largest = job.Range(smallest, largest)
	span := largest - smallest
	if !(span > 0) {
		span = 1
	}
	for k, c := range costs {
		if math.IsInf(c, 1) {
			costs[k] = largest + float64(classes+1)*span
		}
	}
}
