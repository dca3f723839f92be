package fit

import (
	"github.com/fewlabel/fewlabel/engine/sample"
)

// A fit of many unlabeled rows of each class begins at a fit of a part of them, which may begin at a part of that; one
// of fewer rows of three classes and more begins at a fit of a third.
//
//	Problem  that of the method. Most of its passes find the directions of the classes, for which a part of the rows is
//	         enough. Annealing is compared with switching on the part only; the better one goes on with all rows
//	Source   ours, after multigrid methods. Measured, with what was rejected, in docs/notes/coarse-start.md
//	Stops    as the method does
//	Cost     1/sample.Fraction of a fit, or a third, up to twice that where many rows are labeled, which all take part;
//	         and the end of the method's path on all rows
const coarseRows = 1 << 13 // unlabeled rows, for two classes: a part of them is 1,024

// rowsOfClass is the number of unlabeled rows a class from which on a third is a start: with 95 (10,000 planted rows of
// 100 classes) it took 1.3 times as long and found 1.4 points less.
const rowsOfClass = 100

// Replaced in tests.
var (
	coarseFrom  = coarseRows
	maxGathered = 1 << 20 // non-zeros of a part that every machine gets
	warmRows    = 1 << 12 // unlabeled rows from which on a third is a start: with fewer macro F falls by .01 (fbis, re0)
)

// coarse is the fit of a part of the rows, if there are enough and no start is given.
func coarse(x *setting, begin start) (start, error) {
	draw := x.sample.Coarse
	switch {
	case begin.model != nil:
		return begin, nil
	case startsAtThird(x):
		draw = x.sample.Third
	case !startsCoarsely(x):
		return begin, nil
	}
	part, err := draw(x.sample.Job, x.prior.Shares, x.prior.ChosenLabels, maxGathered)
	if err != nil || part == nil {
		return begin, err
	}
	coarseSetting, err := newSetting(part.Sample, x.problem, x.options, x.trained)
	if err != nil {
		return begin, err
	}
	coarseSetting.whole, coarseSetting.before, coarseSetting.prior.Evidence = x.unlabeled(), x.before, x.prior.Evidence
	result, err := search(coarseSetting, begin)
	if err != nil {
		return begin, err
	}
	if part.Sample.Job != x.sample.Job {
		x.sample.Job.CountAndCheck(part.Sample.Job.Visited())
	}
	begin = x.startAt(result, part)
	begin.steps = result.before + result.Model.Iterations
	return begin, nil
}

// startAt is a start at the fit of a part of the rows.
func (x *setting) startAt(result *fitted, part *sample.Part) start {
	return start{model: x.sample.Unpacked(result.Model), spec: result.spec, origin: result.origin.renumbered(part.Rows)}
}

// startsAtPart reports whether a part of the rows, if there are enough, is a start for this method.
func startsAtPart(x *setting) bool {
	s, first := x.sample, x.named.First()
	many := first.SoftLabels && !x.options.Loss.Spec().ClassScores
	return s.All.Labeled > 0 && first.CoarseStart && (first.SoftLabels || x.options.MaxSwitches == 0) &&
		(s.Paired() || many) && !s.Constant() && s.Transductive() && x.direct()
}

// startsCoarsely reports whether an eighth of the rows is a start that saves time.
func startsCoarsely(x *setting) bool {
	s := x.sample
	return startsAtPart(x) && x.unlabeled() >= max(coarseFrom/2*s.Classes(), sample.Fraction*s.All.Labeled)
}

// startsAtThird reports whether a third is one, where there are fewer rows of many classes. With 2 labels a class
// macro F of 20 Newsgroups falls by .03.
func startsAtThird(x *setting) bool {
	s, k := x.sample, x.sample.Classes()
	return startsAtPart(x) && !s.Paired() && x.whole == 0 && !startsCoarsely(x) &&
		labeled(s) > viewLabels*float64(k) && x.unlabeled() >= max(warmRows, rowsOfClass*k, 3*s.All.Labeled)
}

// unlabeled is the number of unlabeled rows of all machines, or of the copies that their weights stand for.
func (x *setting) unlabeled() int {
	if s := x.sample; s.Copies != nil {
		return s.Job.Count(s.Units())
	}
	return x.sample.All.Unlabeled
}

// rows is the number of rows of all machines that take part, or of the copies that their weights stand for.
func (x *setting) rows() float64 {
	return labeled(x.sample) + float64(x.unlabeled())
}
