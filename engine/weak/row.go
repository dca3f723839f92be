package weak

import (
	"cmp"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// Row is a weak label: the classes that a row may have and their prior costs; none if it is not weakly labeled.
type Row struct {
	Class []int32
	Cost  []float64 // κ, the least one 0
}

// Known reports whether the row is weakly labeled.
func (r Row) Known() bool { return len(r.Class) > 0 }

// Forbids reports whether the row cannot have one of the classes.
func (r Row) Forbids(classes int) bool { return r.Known() && len(r.Class) < classes }

// AddTo adds prior costs times a factor to costs [K].
func (r Row) AddTo(costs []float64, factor float64) {
	if !r.Known() {
		return
	}
	next := 0
	for y := range costs {
		if next < len(r.Class) && int(r.Class[next]) == y {
			costs[y] += factor * r.Cost[next]
			next++
		} else {
			costs[y] = math.Inf(1)
		}
	}
}

// Of is the prior cost of a class.
func (r Row) Of(class int32) float64 {
	if k, ok := slices.BinarySearch(r.Class, class); ok {
		return r.Cost[k]
	}
	if r.Known() {
		return math.Inf(1)
	}
	return 0
}

// Probabilities are the probabilities of the classes [K] by the weak label alone.
func (r Row) Probabilities(classes int) []float64 {
	p, sum := make([]float64, classes), 0.0
	r.AddTo(p, 1)
	for y, cost := range p {
		p[y] = math.Exp(-cost)
		sum += p[y]
	}
	for y := range p {
		p[y] /= sum
	}
	return p
}

// Best is the class with the largest of scores [K], of those that the row can have.
func (r Row) Best(scores []float64) int32 {
	if !r.Known() {
		return int32(vector.Largest(scores))
	}
	return slices.MaxFunc(r.Class, func(a, b int32) int { return cmp.Compare(scores[a], scores[b]) })
}

// Restrict leaves probabilities [K] to the classes that the row can have.
func (r Row) Restrict(p []float64) {
	if !r.Known() {
		return
	}
	sum := 0.0
	for y := range p {
		if math.IsInf(r.Of(int32(y)), 1) {
			p[y] = 0
		}
		sum += p[y]
	}
	for y := range p {
		p[y] /= sum
	}
}

// Likeliest is the class of least cost and its probability.
func (r Row) Likeliest() (class int32, p float64) {
	sum := 0.0
	for k, c := range r.Cost {
		if sum += math.Exp(-c); c == 0 {
			class = r.Class[k]
		}
	}
	return class, 1 / sum
}

// Information is the part of a label that a weak label is worth: 1 - log A / log K for A possible classes, and (2p -
// 1)³ of the rest for the probability p of the likeliest class, if it is above 1/2 (docs/notes/weak-labels.md).
func (r Row) Information(classes int) float64 {
	if !r.Known() {
		return 0
	}
	_, p := r.Likeliest()
	part := math.Log(float64(len(r.Class))) / math.Log(float64(classes))
	return 1 - part + part*math.Pow(max(0, 2*p-1), 3)
}
