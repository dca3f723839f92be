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
	"fmt"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Strength of κ beside losses: at 1 labels keep wrong classes as they harden (docs/notes/weak-labels.md).
const Strength = 0.1

// Labels are the prior costs of rows, in compressed row form; nil: nothing is known of any.
type Labels struct {
	Classes int     // K
	start   []int64 // [n+1]
	class   []int32 // ascending in each row
	cost    []float64
}

// New makes weak labels of rows with these labels [n]: row i may have the classes class[start[i]:start[i+1]], with
// probabilities proportional to p there; p nil: equal ones. A row without entries is not weakly labeled. The caller has
// checked start and that there are two classes or more.
func New(classes int, start []int64, class []int32, p []float64, labels []int32) (*Labels, error) {
	if err := need(entryBytes*float64(len(class))+8*float64(len(start)), fmt.Sprintf("a copy of %d sets or probabilities "+
		"of classes", len(labels)), "give fewer rows, or fewer classes to each"); err != nil {
		return nil, err
	}
	l := sized(classes, len(labels), len(class))
	for i, label := range labels {
		first, last := start[i], start[i+1]
		if label >= 0 && first < last {
			return nil, fault.Data("row %d has the label %d and weak labels: it can have one or the other", i, label)
		}
		part := []float64(nil)
		if p != nil {
			part = p[first:last]
		}
		if err := l.add(i, class[first:last], part); err != nil {
			return nil, err
		}
	}
	return l, nil
}

const entryBytes = 4 + 8 // a class and its cost

var need = memory.Need // replaced in tests

// sized is room for rows with so many classes together.
func sized(classes, rows, entries int) *Labels {
	return &Labels{classes, make([]int64, 1, rows+1), make([]int32, 0, entries), make([]float64, 0, entries)}
}

// Bytes are what a copy of the labels takes.
func (l *Labels) Bytes() float64 {
	if l == nil {
		return 0
	}
	return entryBytes*float64(len(l.class)) + 8*float64(len(l.start))
}

// Unknown are the labels of n rows that are not weakly labeled.
func Unknown(classes, n int) *Labels { return &Labels{Classes: classes, start: make([]int64, n+1)} }

// add appends the classes of row i.
func (l *Labels) add(i int, class []int32, p []float64) error {
	order := make([]int, len(class))
	for k, y := range class {
		order[k] = k
		if y < 0 || int(y) >= l.Classes {
			return fault.Data("classes of row %d has %d: it must be 0 to %d", i, y, l.Classes-1)
		}
		if p != nil && !(p[k] > 0 && p[k] <= math.MaxFloat64) {
			return fault.Data("probabilities of row %d has %v for class %d: it must be above 0", i, p[k], y)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return int(class[a] - class[b]) })
	even := len(p) == 0 || slices.Min(p) == slices.Max(p)
	for k, place := range order {
		if k > 0 && class[place] == class[order[k-1]] {
			return fault.Data("classes of row %d has class %d twice", i, class[place])
		}
		if even && len(class) == l.Classes {
			continue
		}
		cost := 0.0
		if !even {
			cost = math.Log(slices.Max(p)) - math.Log(p[place])
		}
		l.class, l.cost = append(l.class, class[place]), append(l.cost, cost)
	}
	l.start = append(l.start, int64(len(l.class)))
	return nil
}

// Of is the weak label of a row.
func (l *Labels) Of(i int) Row {
	if l == nil {
		return Row{}
	}
	first, last := l.start[i], l.start[i+1]
	return Row{l.class[first:last], l.cost[first:last]}
}

// Selected are the labels of these rows, in this order; row -1 is not weakly labeled.
func (l *Labels) Selected(rows []int32) *Labels {
	if l == nil {
		return nil
	}
	entries := 0
	for _, i := range rows {
		if i >= 0 {
			entries += len(l.Of(int(i)).Class)
		}
	}
	out := sized(l.Classes, len(rows), entries)
	for _, i := range rows {
		if i >= 0 {
			row := l.Of(int(i))
			out.class, out.cost = append(out.class, row.Class...), append(out.cost, row.Cost...)
		}
		out.start = append(out.start, int64(len(out.class)))
	}
	return out
}

// Gathered are the labels of all machines, by rank.
func (l *Labels) Gathered(job *work.Job) *Labels {
	if l == nil {
		return nil
	}
	var sizes, entries []float64
	for i := range len(l.start) - 1 {
		sizes = append(sizes, float64(l.start[i+1]-l.start[i]))
	}
	for k, y := range l.class {
		entries = append(entries, float64(y), l.cost[k])
	}
	sizes, _ = job.Gather(sizes)
	entries, _ = job.Gather(entries)
	out := &Labels{Classes: l.Classes, start: []int64{0}}
	for i, size := range sizes {
		out.start = append(out.start, out.start[i]+int64(size))
	}
	for k := 0; k < len(entries); k += 2 {
		out.class, out.cost = append(out.class, int32(entries[k])), append(out.cost, entries[k+1])
	}
	return out
}
