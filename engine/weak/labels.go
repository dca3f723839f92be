// Package weak has the labels of weakly labeled rows, which have a set of classes or probabilities of classes in place
// of a label. Start at Labels.
//
//	Problem  the loss of unlabeled row j, whose labels q_jy keep the class shares, is Σ_y q_jy (ξ(s_j, y) + σ κ_jy):
//	         κ_jy = -log π_jy where class y has the probability π_jy, +Inf where the row cannot have the class, and 0
//	         for rows that are not weakly labeled. Informative rows also count as labeled: see Row.Information
//	Symbols  κ prior costs, the smallest one of a row 0; σ Strength; π probabilities; K classes
//	Source   ours; Keerthi, Sundararajan & Shevade 2012 for labels under class counts, of which only the costs change
//	Limits   a row with one class is a labeled row; one with equal probabilities of all classes an unlabeled row, bit
//	         for bit
package weak

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Strength of κ beside losses: at 1 labels keep wrong classes as they harden (docs/notes/weak-labels.md).
const Strength = 0.1

// Labels are weak labels of rows; nil: nothing is known of any.
type Labels []Row

// Row is a weak label: the classes that a row may have and their prior costs; none if it is not weakly labeled.
type Row struct {
	Class []int32   // ascending
	Cost  []float64 // κ, the least one 0
}

// RowBytes are those of a row without its classes.
const RowBytes = 48

const entryBytes = 4 + 8 // a class and its cost

// New makes weak labels of rows with these labels [n]: row i may have the classes class[start[i]:start[i+1]], with
// probabilities proportional to p there; p nil: equal ones. A row without entries is not weakly labeled. The caller has
// checked start and that there are two classes or more.
func New(classes int, start []int64, class []int32, p []float64, labels []int32) (Labels, error) {
	bytes := entryBytes*float64(len(class)) + RowBytes*float64(len(labels))
	if err := memory.Need(bytes, fmt.Sprintf("a copy of %d sets or probabilities of classes", len(labels)),
		"give fewer rows, or fewer classes to each"); err != nil {
		return nil, err
	}
	l := make(Labels, len(labels))
	for i, label := range labels {
		first, last := start[i], start[i+1]
		if label != -1 && first < last {
			return nil, fault.Data("row %d has the label %d and weak labels: it can have one or the other", i, label)
		}
		part := []float64(nil)
		if p != nil {
			part = p[first:last]
		}
		var err error
		if l[i], err = newRow(i, classes, class[first:last], part); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func newRow(i, classes int, class []int32, p []float64) (row Row, err error) {
	order := make([]int, len(class))
	for k, y := range class {
		order[k] = k
		if y < 0 || int(y) >= classes {
			return row, fault.Data("classes of row %d has %d: it must be 0 to %d", i, y, classes-1)
		}
		if p != nil && !(p[k] > 0 && p[k] <= math.MaxFloat64) {
			return row, fault.Data("probabilities of row %d has %v for class %d: it must be above 0", i, p[k], y)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return int(class[a] - class[b]) })
	even := len(p) == 0 || slices.Min(p) == slices.Max(p)
	row = Row{make([]int32, len(class)), make([]float64, len(class))}
	for k, place := range order {
		if row.Class[k] = class[place]; k > 0 && row.Class[k] == row.Class[k-1] {
			return row, fault.Data("classes of row %d has class %d twice", i, row.Class[k])
		}
		if !even {
			row.Cost[k] = math.Log(slices.Max(p)) - math.Log(p[place])
		}
	}
	if even && len(class) == classes { // nothing is known
		return Row{}, nil
	}
	return row, nil
}

// Of is the weak label of a row; -1 is a row without one.
func (l Labels) Of(i int) Row {
	if l == nil || i < 0 {
		return Row{}
	}
	return l[i]
}

// Selected are the labels of these rows, in this order; row -1 is not weakly labeled.
func (l Labels) Selected(rows []int32) Labels {
	if l == nil {
		return nil
	}
	out := make(Labels, len(rows))
	for k, i := range rows {
		out[k] = l.Of(int(i))
	}
	return out
}

func (r Row) Known() bool { return len(r.Class) > 0 }

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
	p := make([]float64, classes)
	r.AddTo(p, 1)
	for y, cost := range p {
		p[y] = math.Exp(-cost)
	}
	vector.Normalize(p)
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
	for y := range p {
		if math.IsInf(r.Of(int32(y)), 1) {
			p[y] = 0
		}
	}
	vector.Normalize(p)
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
