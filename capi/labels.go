package main

// #include "capi.h"
import "C"

import (
	"fmt"
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/weak"
)

// mostColumns bounds the columns of labels: more than there are models that anyone can use.
const mostColumns = 1 << 24

type labels struct {
	codes   []int32 // [n, columns]
	columns int
	classes int // 0: not given
	weak    weak.Labels
}

// labels views and checks the labels of n rows; class numbers without n_classes are checked in the engine.
func (c *call) labels(given *C.fewlabel_labels, n int64, inGroup bool) (l labels) {
	single(c, "labels", given)
	columns, classes := int64(given.n_columns), int64(given.n_classes)
	switch most := max(2, n); {
	case columns < 1 || columns > mostColumns:
		check(fault.Argument("labels.n_columns is %d: use 1 to %d", columns, int64(mostColumns)))
	case classes < 0 || classes == 1 || classes > math.MaxInt32:
		check(fault.Argument("labels.n_classes is %d: use 2 or more, or 0", classes))
	case classes > most && !inGroup:
		check(fault.Argument("labels.n_classes is %d, but there are %d rows", classes, n))
	case columns > 1 && classes > 2:
		check(fault.Argument("labels.n_classes is %d, but each of several columns has two classes", classes))
	case columns > 1 && given.indptr != nil:
		check(fault.Argument("labels.indptr is given, but there are %d columns: use NULL", columns))
	case inGroup && given.indptr != nil && classes == 0:
		check(fault.Argument("labels.n_classes is 0, but labels.indptr is given: machines of a group need the number"))
	}
	l.columns, l.classes = int(columns), int(classes)
	l.codes = slice[int32](c, "labels.codes", given.codes, n*columns)
	if given.indptr != nil {
		check(c.weak(given, n, &l))
	}
	return l
}

func (c *call) weak(given *C.fewlabel_labels, n int64, l *labels) (err error) {
	start := slice[int64](c, "labels.indptr", given.indptr, n+1)
	for i, end := range start {
		if end < start[max(0, i-1)] || start[0] != 0 {
			return fault.Data("labels.indptr[%d] is %d: it must start at 0 and not decrease", i, end)
		}
	}
	class := slice[int32](c, "labels.classes", given.classes, start[n])
	p := optional[float64](c, "labels.probabilities", given.probabilities, start[n])
	if l.classes == 0 {
		l.classes = 2
		for _, y := range l.codes { // of a description too
			l.classes = max(l.classes, int(y)+1, -1-int(y))
		}
		for _, y := range class {
			l.classes = max(l.classes, int(y)+1)
		}
		if int64(l.classes) > max(2, n) {
			return fault.Data("labels have class %d, but there are %d rows", l.classes-1, n)
		}
	}
	l.weak, err = weak.New(l.classes, start, class, p, l.codes)
	return err
}

func (l *labels) byColumn() [][]int32 {
	check(memory.Need(4*float64(len(l.codes)), fmt.Sprintf("a fit of %d columns of labels", l.columns),
		"fit some of the columns at a time"))
	columns := make([][]int32, l.columns)
	for k := range columns {
		columns[k] = make([]int32, 0, len(l.codes)/l.columns)
		for at := k; at < len(l.codes); at += l.columns {
			columns[k] = append(columns[k], l.codes[at])
		}
	}
	return columns
}
