package fit

import (
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// A fit of many unlabeled rows of each class begins at a fit of a part of them, which may begin at a part of that.
//
//	Problem  that of the method. Most of its passes serve to find which way the classes lie, long before single rows
//	         count; a part of the rows shows that as well. Annealing is compared with switching on the part only, and
//	         what is better there goes on with all rows
//	Source   ours, after multigrid methods: the coarse problem first, the fine one from its solution. Measured with 45
//	         labels on two groups of 20 Newsgroups, CCAT and GCAT: annealing takes 0.3 to 0.6 of the passes and
//	         switching 0.4 to 1.2, to objectives and macro F that differ as much as between draws, either way.
//	         With the default of many classes .55 to .7 of the time, objectives .1 to .5 % higher, and macro F of -.001
//	         (standard error .007; RCV1's four topics, 3,900 rows a class, 48 fits; MNIST, 6,000 a class, 10 fits; 2 to
//	         10 labels a class)
//	Rejected fewer rows a class: on 20 Newsgroups, 9,423 rows of 20 classes, macro F of -.08 and -.01 with 2 and 10
//	         labels a class. With more than two classes the hinge of Crammer & Singer: objectives 4 % higher, macro F of
//	         -.018 on the four topics; and switching: on MNIST it took 1.4 times the time. λ' above method.MostOverAlpha
//	         α: on planted topics objectives ended 1.1 to 2.4 times as high (α = 1e-4 to 1e-6)
//	Stops    as the method does
//	Cost     1/sample.Fraction of a whole fit, and as much again where as many rows are labeled, which all take part:
//	         with more it does not pay; and the last part of the method's path on all rows, see method.Run
const coarseRows = 1 << 13 // unlabeled rows, for two classes: a part of them is 1,024

// Replaced in tests.
var (
	coarseFrom   = coarseRows
	mostGathered = 1 << 20 // non-zeros of a part that every machine gets
)

// coarse is the fit of a part of the rows, if there are enough and no start is given.
func coarse(x *setting, begin from) (from, error) {
	if begin.model != nil || !startsCoarsely(x) {
		return begin, nil
	}
	part, err := x.sample.Subsample(x.prior.Shares, x.prior.Picked, mostGathered)
	if err != nil || part == nil {
		return begin, err
	}
	few, err := newSetting(part.Sample, x.problem, x.options, x.trained)
	if err != nil {
		return begin, err
	}
	few.whole, few.before, few.prior.Evidence = x.unlabeled(), x.before, x.prior.Evidence
	found, err := search(few, begin)
	if err != nil {
		return begin, err
	}
	if part.Sample.Job != x.sample.Job {
		x.sample.Job.CountAndCheck(part.Sample.Job.Visited())
	}
	return from{model: ofProblem(x.sample, found.Model), spec: found.spec, origin: found.origin.among(part.Rows),
		steps: found.before + found.Model.Iterations}, nil
}

// startsCoarsely reports whether a start from a part of the rows pays for this method and these rows.
func startsCoarsely(x *setting) bool {
	s, first := x.sample, x.named.First()
	many := first.Soft && !x.options.Loss.Spec().ClassScores
	return s.All.Labeled > 0 && first.CoarseStart && (first.Soft || x.options.MaxSwitches == 0) &&
		(s.Paired() || many) && !s.Constant() && s.Transductive() && x.direct() &&
		x.unlabeled() >= max(coarseFrom/2*s.Classes(), sample.Fraction*s.All.Labeled)
}

// unlabeled is the number of unlabeled rows, or of the copies that their weights stand for, of all machines.
func (x *setting) unlabeled() int {
	if s := x.sample; s.Copies != nil {
		return s.Job.Count(s.Units())
	}
	return x.sample.All.Unlabeled
}

// rows is the number of rows that take part, or of the copies that their weights stand for, of all machines.
func (x *setting) rows() float64 {
	s, labeled := x.sample, x.sample.All.Labeled
	if s.Copies != nil {
		labeled = s.Job.Count(int(vector.Sum(s.LabeledRows)))
	}
	return float64(labeled + x.unlabeled())
}

// ofProblem is a model of the packed rows as one of the problem's.
func ofProblem(s *sample.Sample, m *model.Linear) *model.Linear {
	whole := *m
	whole.Features, whole.Coef = s.Features, make([]float64, s.Features*m.Outputs)
	for k, old := range s.Feature {
		copy(whole.Coef[int(old)*m.Outputs:], m.Coef[k*m.Outputs:(k+1)*m.Outputs])
	}
	vector.Scale(whole.Coef, 1/s.Length)
	return &whole
}
