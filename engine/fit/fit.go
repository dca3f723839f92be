package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Result is what Fit has learned.
type Result struct {
	Model         *model.Linear
	Returned      string    // the method that the solution comes from, see comparison.go
	Transduction  []int32   // [n] class of every training row: given, or predicted by the model
	Distributions []float64 // [n, classes] soft labels, or nil where the method has none
	History       []trace.Column
	Agreement     float64      // share of unlabeled rows with the class of the supervised start, see agreement.go
	Calibration   *Calibration // nil: not asked for, or not possible

	reason ending.Reason
	origin origin
	before int  // steps of the fit of a part of the rows
	warm   bool // begun at a model
}

// Fit learns a classifier from labeled and unlabeled rows. It returns fault.ErrCancelled soon after
// progress.Cancel is set, or with work.Stop in it the classifier after one more step; progress may be nil.
func Fit(p sample.Problem, options method.Options, progress *work.Progress) (*Result, error) {
	return FitTogether(p, options, progress, nil)
}

// FitTogether is Fit where the machines of a group share the rows: each calls it with rows of its own in its part of
// Group.Run, and gets the same classifier. Transduction and Distributions are those of its rows.
func FitTogether(
	p sample.Problem, options method.Options, progress *work.Progress, group *work.Group,
) (result *Result, err error) {
	err = work.Guard(func() error {
		job := work.NewJob(options.Threads, progress)
		if group.Shares() {
			job.Group = group
		}
		if err := begin(p, options, job.Group); err != nil {
			return err
		}
		s, err := sample.New(p, options.OfSample(), job)
		if err != nil {
			return err
		}
		if options.Traits().Belief == method.Pairs && s.Copies != nil {
			result, err = fitCopies(p, options, s.Job)
		} else {
			result, err = fitSample(s, p, options)
		}
		return err
	})
	return result, err
}

// begin refuses options that do not go together, or that a group cannot follow.
func begin(p sample.Problem, options method.Options, group *work.Group) error {
	if err := options.Agree(); err != nil || group == nil {
		return err
	}
	alike := options
	alike.Threads = 0
	group.Begin(p.Checksum(alike))
	return options.Together()
}

func fitSample(s *sample.Sample, p sample.Problem, options method.Options) (*Result, error) {
	options.Options = s.Options
	result, err := fitAndCompare(s, p, options)
	if err != nil {
		return nil, err
	}
	result.Agreement = agreement(s, result)
	return result, calibrate(s, options, result)
}

func fitAndCompare(s *sample.Sample, p sample.Problem, options method.Options) (*Result, error) {
	result, err := fit(s, p, run{job: s.Job, options: options, start: p.Start})
	if err == nil {
		compare(s, p, options, result)
	}
	return result, err
}

// fitCopies fits the copies of the rows that their weights stand for: labels that are exchanged one by one, each with a
// dual variable, cannot be divided.
func fitCopies(p sample.Problem, options method.Options, job *work.Job) (*Result, error) {
	copied, first := p.Copied(job.Pool)
	s, err := sample.New(copied, options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	result, err := fitSample(s, copied, options)
	if err != nil {
		return nil, err
	}
	classes := make([]int32, len(first))
	for i, k := range first {
		classes[i] = result.Transduction[k]
	}
	result.Transduction = classes
	return result, nil
}

// fit is one fit by the method of the options. Without a result it was given up: it would not have ended below its
// rival, see comparison.go.
func fit(s *sample.Sample, p sample.Problem, r run) (*Result, error) {
	if r.start != nil && !s.Constant() {
		if err := checkStart(s, r.start); err != nil {
			return nil, err
		}
	}
	if r.options.Traits().Belief == method.Pairs && !s.Paired() {
		return nil, fault.Argument("method is %q: it supports two classes only, but there are %d; use annealing or switching",
			r.options.Method, s.Classes())
	}
	t, err := newTask(s, r)
	if err != nil {
		return nil, err
	}
	if err := t.beginAtFew(); err != nil {
		return nil, err
	}
	found := t.solve()
	if found.end.reason == ending.GivenUp {
		return nil, nil
	}
	return t.result(p, &found)
}

// solvers find a solution with each belief.
var solvers = map[method.Belief]func(t *task) solution{
	method.Soft: (*task).anneal, method.Hard: (*task).switching, method.Pairs: (*task).pairSwitching,
	method.Free: (*task).gradient, method.Means: (*task).expect,
	method.Labels: (*task).expect,
}

func (t *task) solve() solution {
	switch {
	case t.Constant():
		return t.constant()
	case !t.Transductive():
		return t.solveSupervised()
	}
	return solvers[t.method.Belief](t)
}

// result checks a solution and makes the result of it.
func (t *task) result(p sample.Problem, s *solution) (*Result, error) {
	if s.end.reason == ending.NotFinite {
		return nil, t.OutOfRange()
	}
	constant := s.end.reason == ending.OneClass
	if t.movesThreshold() && !constant {
		t.moveIntercepts(s)
	}
	score := t.score(s)
	objective, shares := t.objective(s.loss, s.regularizer, score)
	if t.learnsMeans() {
		objective = t.believed
	}
	if err := t.CheckFinite(objective, s.coef, s.intercept, s.outputs, t.soft); err != nil {
		return nil, err
	}
	if t.Transductive() && !t.learnsMeans() && !constant {
		t.checkShares(shares, t.prior)
	}
	if !t.learnsMeans() {
		s.end.reason = t.checkEnd(s.converged, s.gap, s.end.reason, settleRounds)
	}
	classifier := &model.Linear{
		Classes: t.classes, Features: p.Rows.Cols(), Outputs: model.OutputsOf(t.classes), ClassPrior: t.prior,
		Report: model.Report{Method: string(t.asked.Method), Iterations: max(1, s.end.steps), Objective: objective,
			Termination: s.end.reason.String(), Warnings: t.trace.Warnings},
	}
	classifier.Coef, classifier.Intercept = t.modelWeights(s)
	result := &Result{Model: classifier, Returned: string(t.Options.Method), Transduction: t.transduced(p.Labels, score),
		Distributions: t.distributions(), History: t.trace.Columns(t.asked.Level, t.shareColumn(), t.hasEntropy()),
		before: t.trace.Before, warm: t.start != nil, reason: s.end.reason, origin: t.origin}
	if t.asked.Belief != t.method.Belief {
		certain(t.Sample, result)
	}
	return result, nil
}

// learnsMeans reports whether the method is one of package expectation, and has something to learn from.
func (t *task) learnsMeans() bool { return t.Transductive() && t.method.Probable() }

// shareColumn is the history's column about the classes' shares.
func (t *task) shareColumn() string {
	switch {
	case t.learnsMeans():
		return "constraint_residual"
	case t.Paired():
		return "positive_share"
	}
	return "share_distance"
}

// hasEntropy reports whether the history tells how sure the labels are.
func (t *task) hasEntropy() bool { return t.asked.Belief == method.Soft || t.learnsMeans() }

// constant is the model when all labeled rows have one class.
func (t *task) constant() solution {
	decision := float64(2*t.Class[0] - 1)
	t.trace.Warn(warning.OneClass, float64(t.Class[0]))
	return solution{coef: make([]float64, t.Features), intercept: []float64{decision}, loss: t.loss(0),
		outputs: slices.Repeat([]float64{decision}, t.Rows.Rows()), converged: true, end: stop{reason: ending.OneClass}}
}

func (t *task) solveSupervised() solution {
	t.warnSupervised()
	if t.method.Belief == method.Pairs {
		return t.pairSwitching()
	}
	limits := t.supervisedLimits()
	limits.Forcing = 0.2 // rows of equal weight: conjugate gradients gain much by a few more steps
	r, newton, outcome := t.supervised(limits)
	outcome = t.sharpen(r, newton, outcome)
	end := t.supervisedEnd(outcome)
	if t.All.Unlabeled == 0 {
		t.note(r, 0, 0, 0)
		return t.read(r, outcome, end)
	}
	found := t.read(r, outcome, end) // only that finds the scores of unlabeled rows
	t.noteAt(t.score(&found), found.regularizer, 0, 0, 0, found.loss)
	return found
}
