package fit

import (
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// A fit of many unlabeled rows begins at a fit of a part of them: of an eighth, which may begin at a part of that, or
// of a third where each class has fewer.
//
//	Problem  that of the method. Most of its passes find the directions of the classes, for which a part of the rows is
//	         enough. Annealing is compared with switching on the part only; the better one goes on with all rows
//	Source   ours, after multigrid methods. Measured, with what was rejected, in docs/notes/coarse-start.md
//	Stops    as the method does; a third at a tolerance of 1e-4, and it is no start where max_iter ends it
//	Cost     that part of a fit, up to twice that where many rows are labeled, as these all take part; and the end of the
//	         method's path on all rows
const (
	coarseRows = 1 << 13 // unlabeled rows, for two classes: a part of them is 1,024

	// Of a start at a third; with fewer labels macro F falls, by .02 on four uneven topics with five labels of each.
	thirdLabels    = 80.0 // labeled rows, and
	thirdOfClass   = 5.0  // those of a class in the mean
	thirdLooseness = 10   // factor on the tolerance; with 100 macro F of the maxent loss falls by .005
)

// Replaced in tests.
var (
	coarseFrom  = coarseRows
	maxGathered = 1 << 20 // non-zeros of a part that every machine gets
)

// coarse is the fit of a part of the rows, if there are enough and no start is given.
func coarse(x *setting, begin start) (start, error) {
	third := !startsCoarsely(x)
	if begin.model != nil || third && !startsAtThird(x) {
		return begin, nil
	}
	draw, options := x.sample.Coarse, x.options
	if third {
		draw, options = x.sample.Third, x.loose(thirdLooseness)
	}
	part, err := draw(x.sample.Job, x.prior.Shares, x.prior.ChosenLabels, maxGathered)
	if err != nil || part == nil || !part.Sample.Transductive() {
		return begin, err
	}
	coarseSetting, err := newSetting(part.Sample, x.problem, options, x.trained)
	if err != nil {
		return begin, err
	}
	coarseSetting.whole, coarseSetting.before, coarseSetting.prior.Evidence = x.unlabeled(), x.before, x.prior.Evidence
	coarseSetting.weak = x.weak
	result, err := search(coarseSetting, begin)
	if err != nil || third && result.reason == path.MaxIter {
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

// startsCoarsely reports whether a start from a part of the rows saves time for this method and these rows.
func startsCoarsely(x *setting) bool {
	s, first := x.sample, x.named.First()
	many := first.SoftLabels && !x.options.Loss.Spec().ClassScores
	return s.All.Labeled > 0 && first.CoarseStart && (first.SoftLabels || x.options.MaxSwitches == 0) &&
		(s.Paired() || many) && !s.Constant() && s.Transductive() && x.direct() &&
		x.unlabeled() >= max(coarseFrom/2*s.Classes(), sample.Fraction*s.All.Labeled)
}

// startsAtThird reports the same of a third of fewer rows; a committee has its own. (Switching: .95 of the time.)
func startsAtThird(x *setting) bool {
	first, suits := x.named.First(), x.direct() || x.options.Loss.Spec().Free
	return first.CoarseStart && first.SoftLabels && suits && x.whole == 0 && !x.averages() && !x.sample.Constant() &&
		x.sample.Transductive() && x.unlabeled() >= max(warmRows, 3*x.sample.All.Labeled) &&
		x.labelsOfClass() >= max(thirdOfClass, thirdLabels/float64(x.sample.Classes()))
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
