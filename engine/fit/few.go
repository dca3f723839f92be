package fit

import (
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// A fit of many unlabeled rows of two classes begins at a fit of a part of them, which may begin at a part of that.
//
//	Problem  that of the method. Most of its passes serve to find which way the classes lie, long before single rows
//	         count; a part of the rows tells that as well. Annealing is compared with switching on the part alone, and
//	         what is better there goes on with all rows
//	Source   ours, after multigrid methods: the coarse problem first, the fine one from its solution. Measured with 45
//	         labels on two groups of 20 Newsgroups, CCAT and GCAT: annealing takes 0.3 to 0.6 of the passes and
//	         switching 0.4 to 1.2, to objectives and macro F that differ as much as those of other draws do, either way
//	Rejected more than two classes: on MNIST, 60,000 rows of ten classes, switching took 1.4 times the time. λ' above
//	         mostOverAlpha α: on planted topics objectives ended 1.1 to 2.4 times as high (α = 1e-4 to 1e-6)
//	Stops    as the method does
//	Cost     1/sample.FewOf of a whole fit, and as much again where as many rows are labeled, which all take part: with
//	         more it does not pay; and the last part of the method's path on all rows, see start.go
const manyRows = 1 << 13 // unlabeled rows: a part of them is 1,024

// Replaced in tests.
var (
	many         = manyRows
	mostGathered = 1 << 20 // non-zeros of a part that every machine gets
)

// beginAtFew makes a fit of a part of the rows the start, if there are many.
func (t *task) beginAtFew() error {
	o := &t.Options
	way := t.method.CoarseStart && (t.method.Belief == method.Soft || o.MaxSwitches == 0)
	unlabeled := t.All.Unlabeled
	if t.units != nil {
		unlabeled = t.Job.Count(len(t.units))
	}
	if !way || !t.Paired() || t.Constant() || !t.Transductive() || t.start != nil || t.rival > 0 ||
		o.UnlabeledWeight > mostOverAlpha*o.Alpha || unlabeled < max(many, sample.FewOf*t.All.Labeled) {
		return nil
	}
	few, part, rows, err := t.Few(t.prior, mostGathered)
	if err != nil || few == nil {
		return err
	}
	options := t.Options
	options.Options, options.Method = few.Options, t.asked.Method
	found, err := fitAndCompare(few, part, options)
	if err != nil {
		return err
	}
	if few.Job != t.Job {
		t.Job.CountAndCheck(few.Job.Visited())
	}
	t.start, t.origin = t.inProblem(found.Model), found.origin.among(rows)
	t.Options.Method = method.Method(found.Returned)
	t.method = t.Options.Traits()
	t.trace.Before = found.before + found.Model.Iterations
	return nil
}

// inProblem is a model of the packed rows as one of the problem's.
func (t *task) inProblem(m *model.Linear) *model.Linear {
	start := *m
	start.Features, start.Coef = t.Features, make([]float64, t.Features*m.Outputs)
	for k, old := range t.Feature {
		copy(start.Coef[int(old)*m.Outputs:], m.Coef[k*m.Outputs:(k+1)*m.Outputs])
	}
	vector.Scale(start.Coef, 1/t.Length)
	return &start
}
