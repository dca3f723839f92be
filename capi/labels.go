package main

// #include "capi.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// mostColumns bounds the columns of labels: more than there are models that anyone can use.
const mostColumns = 1 << 24

// labels are the labels of the caller.
type labels struct {
	codes         []int32 // [n, columns]
	columns       int
	classes       int       // 0: not given
	indptr        []int64   // [n + 1]; nil: no row is weakly labeled
	of            []int32   // [entries] the class of an entry
	probabilities []float64 // [entries]; nil: equal ones
}

// labels views and checks the labels of n rows; class numbers without n_classes are checked in the engine.
func (c *call) labels(given *C.fewlabel_labels, n int64, inGroup bool) (l labels) {
	if c.err != nil || !c.borrow("labels", unsafe.Pointer(given), 1, C.sizeof_fewlabel_labels) {
		return l
	}
	columns, classes := int64(given.n_columns), int64(given.n_classes)
	switch most := max(2, n); {
	case columns < 1 || columns > mostColumns:
		c.fail(fault.Argument("labels.n_columns is %d: use 1 to %d", columns, int64(mostColumns)))
	case classes < 0 || classes == 1 || classes > math.MaxInt32:
		c.fail(fault.Argument("labels.n_classes is %d: use 2 or more, or 0", classes))
	case classes > most && !inGroup:
		c.fail(fault.Argument("labels.n_classes is %d, but there are %d rows", classes, n))
	case columns > 1 && classes > 2:
		c.fail(fault.Argument("labels.n_classes is %d, but each of several columns has two classes", classes))
	case columns > 1 && given.indptr != nil:
		c.fail(fault.Argument("labels.indptr is given, but there are %d columns: use NULL", columns))
	case inGroup && given.indptr != nil && classes == 0:
		c.fail(fault.Argument("labels.n_classes is 0, but labels.indptr is given: machines of a group need the number"))
	}
	l.columns, l.classes = int(columns), int(classes)
	l.codes = slice[int32](c, "labels.codes", unsafe.Pointer(given.codes), n*columns)
	if c.err == nil && given.indptr != nil {
		c.fail(c.weak(given, n, &l))
	}
	return l
}

// weak views and checks the weakly labeled rows.
func (c *call) weak(given *C.fewlabel_labels, n int64, l *labels) error {
	l.indptr = slice[int64](c, "labels.indptr", unsafe.Pointer(given.indptr), n+1)
	if c.err != nil {
		return c.err
	}
	for i, end := range l.indptr {
		if end < l.indptr[max(0, i-1)] || l.indptr[0] != 0 {
			return fault.Data("labels.indptr[%d] is %d: it must start at 0 and not decrease", i, end)
		}
	}
	entries := l.indptr[n]
	l.of = slice[int32](c, "labels.classes", unsafe.Pointer(given.classes), entries)
	l.probabilities = optional[float64](c, "labels.probabilities", unsafe.Pointer(given.probabilities), entries)
	if c.err != nil {
		return c.err
	}
	if l.classes == 0 {
		l.classes = 2
		for _, class := range append(l.codes[:len(l.codes):len(l.codes)], l.of...) {
			l.classes = max(l.classes, int(class)+1)
		}
		if int64(l.classes) > max(2, n) {
			return fault.Data("labels have class %d, but there are %d rows", l.classes-1, n)
		}
	}
	return l.checkEntries()
}

// checkEntries refuses entries of rows with a label, and ones that are no probability of a class.
func (l *labels) checkEntries() error {
	last := make([]int, l.classes) // one more than the last row that may have each class
	for i, code := range l.codes {
		from, to := l.indptr[i], l.indptr[i+1]
		if code >= 0 && to > from {
			return fault.Data("labels.indptr gives row %d entries, but labels.codes the class %d: use -1", i, code)
		}
		for k := from; k < to; k++ {
			class := int(l.of[k])
			switch {
			case class < 0 || class >= l.classes:
				return fault.Data("labels.classes of row %d has class %d, but there are %d classes", i, class, l.classes)
			case last[class] == i+1:
				return fault.Data("labels.classes of row %d has class %d twice", i, class)
			case l.probabilities != nil && !(l.probabilities[k] > 0 && l.probabilities[k] <= 1):
				return fault.Data("labels.probabilities of row %d has %v for class %d: it must be above 0 and at most 1", i,
					l.probabilities[k], class)
			}
			last[class] = i + 1
		}
	}
	return nil
}

// costs are the prior costs [n, classes] of the rows: -log p, +Inf for a class that a weakly labeled row cannot have.
func (l *labels) costs() ([]float64, error) {
	n := len(l.codes)
	if err := memory.Need(8*float64(n)*float64(l.classes), fmt.Sprintf("weak labels of %d rows and %d classes", n,
		l.classes), "give fewer rows"); err != nil {
		return nil, err
	}
	costs := make([]float64, n*l.classes)
	for i := range n {
		row := costs[i*l.classes : (i+1)*l.classes]
		if l.indptr[i] < l.indptr[i+1] {
			for y := range row {
				row[y] = math.Inf(1)
			}
		}
		for k := l.indptr[i]; k < l.indptr[i+1]; k++ {
			row[l.of[k]] = 0
			if l.probabilities != nil {
				row[l.of[k]] = -math.Log(l.probabilities[k])
			}
		}
	}
	return costs, nil
}

// addTo puts one column of labels into a problem.
func (l *labels) addTo(p *sample.Problem) (err error) {
	if p.Labels, p.Classes = l.codes, l.classes; l.indptr != nil {
		p.Costs, err = l.costs()
	}
	return err
}

// byColumn is the codes of each column.
func (l *labels) byColumn() [][]int32 {
	columns := make([][]int32, l.columns)
	for k := range columns {
		for at := k; at < len(l.codes); at += l.columns {
			columns[k] = append(columns[k], l.codes[at])
		}
	}
	return columns
}
