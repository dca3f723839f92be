package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/path"
)

// coarse fits parts of the rows, each from the end of the one before: an eighth of many unlabeled rows, which begins at
// an eighth of that, or a third of fewer. A fit of all rows begins at the last one.
//
//	Problem  that of the method. Most of its passes find the directions of the classes, for which a part of the rows is
//	         enough. Annealing is compared with switching on the smallest part only; the better one goes on
//	Source   ours, after multigrid methods. Measured, with what was rejected, in docs/notes/coarse-start.md
//	Stops    as the method does, at a looser tolerance; a part that max_iter ends is no start
//	Cost     that part of a fit, up to twice that where many rows are labeled, as these all take part; and the end of the
//	         method's path on all rows
//
// It is nil where there is no part like the whole.
func coarse(d *Data, fractions []uint64, m Member) (last *fitted, err error) {
	for _, fraction := range fractions {
		part := d.part(fraction)
		if part == nil {
			continue
		}
		if m.begin = (start{}); last != nil && last.reason != path.MaxIter {
			m.begin = start{last.Model, last.spec.Name, last.before + last.Model.Iterations, last.origin}
		}
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
func (d *Data) part(fraction uint64) (part *Data) {
	rows, ok := d.sample.Part(fraction, maxGathered)
	if !ok {
		return nil
	}
	err := d.sample.Job.Try(func() (err error) {
		part, err = d.of(rows, d.prior, d.options, d.sample.Job)
		return err
	})
	if err != nil || !part.sample.Transductive() {
		return nil
	}
	part.whole = d.sample.All.UnlabeledUnits
	return part
}

// startAt is a start at the fit of a part of the rows.
func (d *Data) startAt(part *fitted) start {
	if part == nil || part.reason == path.MaxIter {
		return start{}
	}
	return start{d.sample.Unpacked(part.Model), part.spec.Name, part.before + part.Model.Iterations, part.origin}
}

const (
	partLooseness = 10 // factor on the tolerance of a part; with 100 macro F of the maxent loss falls by .005

	eighth     = 8
	third      = 3
	coarseRows = 1 << 13 // unlabeled rows, for two classes, from which on an eighth is enough: 1,024

	thirdLabels = 40.0 // labeled rows from which on a committee starts at a third
)

// Replaced in tests.
var (
	coarseFrom  = coarseRows
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
	suits := s.Paired() && d.options.MaxSwitches == 0 || first.SoftLabels && (s.Paired() || !l.ClassScores)
	if suits && d.atOnce() {
		for rows, fraction := n, uint64(eighth); rows >= max(coarseFrom/2*classes, eighth*s.All.Labeled); {
			fractions = append(fractions, fraction)
			rows, fraction = rows/eighth, fraction*eighth
		}
	}
	if len(fractions) == 0 && d.averages() && n >= max(thirdFrom, third*s.All.Labeled) &&
		d.labels*float64(classes) >= thirdLabels {
		return []uint64{third}
	}
	slices.Reverse(fractions)
	return fractions
}
