// Package trace is the record of a run: its history, an entry for every outer step, and warnings. Start at Trace.
package trace

import (
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

type Trace struct {
	Job      *work.Job
	Unit     int // non-zeros of a pass
	Before   int // steps of earlier runs that this one continues
	Warnings []warning.Warning

	Level, Share string // names of the columns of levels and of class shares
	NoLevel      bool   // the column of levels is 0
	WithEntropy  bool   // there is a column of the labels' entropy

	level, objective, switched, share, entropy, passes []float64
}

// Column is one named column of the history, one value an outer step.
type Column struct {
	Name   string
	Values []float64
}

func (t *Trace) Columns() []Column {
	if len(t.objective) == 0 { // a constant model took no step
		return nil
	}
	list := []Column{{"objective", t.objective}, {t.Level, t.level}, {"n_switched", t.switched}, {t.Share, t.share},
		{"n_passes", t.passes}}
	if t.WithEntropy {
		list = append(list, Column{"entropy", t.entropy})
	}
	return list
}

// Record adds an outer step and publishes it.
func (t *Trace) Record(objective, level float64, switched int, share, entropy float64) {
	if t.NoLevel {
		level = 0
	}
	t.level = append(t.level, level)
	t.objective = append(t.objective, objective)
	t.switched = append(t.switched, float64(switched))
	t.share = append(t.share, share)
	t.entropy = append(t.entropy, entropy)
	t.passes = append(t.passes, t.Passes())
	t.Job.Report(t.Before+t.Steps(), objective, level, switched, t.Passes())
}

// RecordEnd adds a step with hard labels at the end of a trace of the same problem, which may be this one.
func (t *Trace) RecordEnd(of *Trace, switched int) {
	last := len(of.objective) - 1
	t.Record(of.objective[last], 0, switched, of.share[last], 0)
}

func (t *Trace) Warn(kind warning.Kind, values ...float64) {
	t.Warnings = append(t.Warnings, kind.Of(values...))
}

// Passes is the number of non-zeros read so far over those of the whole matrix.
func (t *Trace) Passes() float64 { return float64(t.Job.Visited()) / float64(max(1, t.Unit)) }

// Objective is the objective of a step, by its number before the last.
func (t *Trace) Objective(before int) float64 { return t.objective[len(t.objective)-1-before] }

func (t *Trace) Objectives() []float64 { return t.objective }

func (t *Trace) Steps() int { return len(t.objective) }
