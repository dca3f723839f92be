package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/work"
)

// coarse fits parts of the rows, each from the end of the one before: an eighth of many unlabeled rows, which begins at
// an eighth of that, or a third of fewer. It returns the last fit, nil where there is no part like the whole.
//
//	Problem  that of the method. Most of its passes find the directions of the classes, for which a part of the rows is
//	         enough. Annealing is compared with switching on the smallest part only; the better one goes on
//	Source   ours, after multigrid methods. Measured, with what was rejected, in docs/notes/coarse-start.md
//	Stops    as the method does, at a looser tolerance; a part that max_iter ends is no start
//	Cost     that part of a fit, up to twice that where many rows are labeled, as these all take part; and the end of the
//	         method's path on all rows
func coarse(d *Data, fractions []uint64, m Member) (last *fitted, err error) {
	for _, fraction := range fractions {
		part := d.part(fraction)
		if part == nil {
			continue
		}
		m.begin = last.start()
		if last, err = search(part, m); err != nil {
			return nil, err
		}
		if m.begin.model == nil {
			last.origin = renumbered(last.origin, part.sample.Source)
		}
	}
	return last, nil
}

// part is the data of one of fraction unlabeled rows; nil: it would not be like the whole, or a machine cannot make it.
func (d *Data) part(fraction uint64) *Data {
	rows, ok := d.sample.Part(fraction, maxGathered)
	if !ok {
		return nil
	}
	job := d.sample.Job
	part, err := work.Try(job, func() (*Data, error) { return d.of(rows, d.options, job) })
	if err != nil || !part.sample.Transductive() {
		return nil
	}
	part.whole = d.sample.All.UnlabeledUnits
	return part
}

// start is a start at a fit of a part of the rows; nowhere, if max_iter ended it.
func (f *fitted) start() start {
	if f == nil || f.reason() == path.MaxIter {
		return start{}
	}
	return start{f.Model, f.spec.Name, f.trace.Before + f.Model.Iterations, f.origin}
}

// startAt is where a fit begins: at the caller's start, or at the fit of a part of the rows, if parts are to be fitted.
func (d *Data) startAt(part *fitted) start {
	begin := part.start()
	if d.start != nil || begin.model == nil || len(d.parts()) == 0 {
		return start{model: d.start}
	}
	begin.model = d.sample.Unpacked(begin.model)
	return begin
}

const (
	partLooseness = 10 // factor on the tolerance of a part; with 100 macro F of the maxent loss falls by .005
	eighth        = 8
	third         = 3
	thirdLabels   = 40.0 // labeled rows from which on a committee starts at a third
)

// Replaced in tests.
var (
	coarseFrom  = 1 << 13 // unlabeled rows, for two classes, from which on an eighth is enough: 1,024
	thirdFrom   = 1 << 12
	maxGathered = 1 << 20 // non-zeros of a part that every machine gets
)

// parts are the fractions of the unlabeled rows at which a fit begins, the smallest part first. (Switching at a third:
// .95 of the time.)
func (d *Data) parts() (fractions []uint64) {
	s, first, l := d.sample, d.named.First(), d.options.Loss.Spec()
	if !first.CoarseStart || s.Constant() || !s.Transductive() || s.All.Labeled == 0 {
		return nil
	}
	classes, n := s.Classes(), s.All.UnlabeledUnits
	suits := s.Paired() && d.options.MaxSwitches == 0 || first.SoftLabels && (s.Paired() || !l.ClassScores || d.averages())
	least := max(coarseFrom/2*classes, eighth*s.All.Labeled)
	for rows, part := n, uint64(eighth); suits && d.atOnce() && rows >= least; rows, part = rows/eighth, part*eighth {
		fractions = slices.Insert(fractions, 0, part)
	}
	if len(fractions) == 0 && d.averages() && n >= max(thirdFrom, third*s.All.Labeled) &&
		d.labels*float64(classes) >= thirdLabels {
		return []uint64{third}
	}
	return fractions
}
