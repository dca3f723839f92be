package path

import (
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Trace is the record of a run: its history, an entry for every outer step, and warnings.
type Trace struct {
	Job      *work.Job
	Unit     int // non-zeros of a pass
	Before   int // steps of earlier runs that this one continues
	Warnings []warning.Warning

	Level, Share string // names of the columns of levels and of class shares
	NoLevel      bool   // the column of levels is 0
	WithEntropy  bool   // there is a column of the labels' entropy

	columns [6][]float64 // see Columns
}

// Column is one named column of the history, one value an outer step.
type Column struct {
	Name   string
	Values []float64
}

func (t *Trace) Columns() []Column {
	names := []string{"objective", t.Level, "n_switched", t.Share, "n_passes", "entropy"}
	switch {
	case t.Steps() == 0: // a constant model took no step
		names = nil
	case !t.WithEntropy:
		names = names[:5]
	}
	var list []Column
	for k, name := range names {
		list = append(list, Column{name, t.columns[k]})
	}
	return list
}

// Record adds an outer step and publishes it.
func (t *Trace) Record(objective, level float64, switched int, share, entropy float64) {
	if t.NoLevel {
		level = 0
	}
	for k, value := range []float64{objective, level, float64(switched), share, t.Passes(), entropy} {
		t.columns[k] = append(t.columns[k], value)
	}
	t.Job.Report(t.Before+t.Steps(), objective, level, switched, t.Passes())
}

// RecordEnd adds a step with hard labels at the end of a trace of the same problem, which may be this one.
func (t *Trace) RecordEnd(of *Trace, switched int) {
	last := of.Steps() - 1
	t.Record(of.columns[0][last], 0, switched, of.columns[3][last], 0)
}

func (t *Trace) Warn(kind warning.Kind, values ...float64) {
	t.Warnings = append(t.Warnings, kind.Of(values...))
}

// Passes is the number of non-zeros read so far over those of the whole matrix.
func (t *Trace) Passes() float64 { return float64(t.Job.Visited()) / float64(max(1, t.Unit)) }

// Objective is the objective of a step, by its number before the last.
func (t *Trace) Objective(before int) float64 { return t.columns[0][t.Steps()-1-before] }

func (t *Trace) Objectives() []float64 { return t.columns[0] }

func (t *Trace) Steps() int { return len(t.columns[0]) }
