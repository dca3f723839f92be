package transduction

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Result is what Fit has learned.
type Result struct {
	Model         *model.Linear
	Returned      string    // the method that the solution comes from, see comparison.go
	Transduction  []int32   // [n] class of every training row: given, or predicted by the model
	Distributions []float64 // [n, classes] soft labels, or nil where the method has none
	History       []Column
	Agreement     float64      // share of unlabeled rows with the class of the supervised start, see agreement.go
	Calibration   *Calibration // nil: not asked for, or not possible
}

// Fit learns a classifier from labeled and unlabeled rows. It returns fault.ErrCancelled soon after
// progress.Cancel is set, or with work.Stop in it the classifier after one more step; progress may be nil.
func Fit(p Problem, options Options, progress *work.Progress) (result *Result, err error) {
	err = work.Guard(func() error {
		if err := options.agree(); err != nil {
			return err
		}
		s, err := newSample(p, options, work.NewJob(options.Threads, progress))
		if err != nil {
			return err
		}
		if result, err = s.fit(p); err != nil {
			return err
		}
		s.compare(p, result)
		result.Agreement = s.agreement(result.Transduction)
		return s.calibrate(result)
	})
	return result, err
}

// ending says how an outer loop ended.
type ending struct {
	reason  string
	steps   int
	outcome minimize.Outcome // of the last solve
}

// givenUp is the reason of a fit that its rival has ended.
const givenUp = "given_up"

// early says that the outer loop has ended before the method had come to its end.
func (e *ending) early() bool { return e.reason == "max_iter" || e.reason == "stopped" }

// limit is the reason why the outer loop has to end after these steps, one step being left to settle the labels; "" if
// it may go on.
func (s *sample) limit(steps int) string {
	switch {
	case s.job.Stopped():
		return "stopped"
	case steps >= s.options.MaxIter-1:
		return "max_iter"
	}
	return ""
}

// atLimit says whether the outer loop has to end, and puts the reason into end.
func (s *sample) atLimit(end *ending) bool {
	reason := s.limit(end.steps)
	if reason != "" {
		end.reason = reason
	}
	return reason != ""
}

// fit is one fit by the method of the options. Without a result it was given up, see comparison.go.
func (s *sample) fit(p Problem) (*Result, error) {
	s.checkScales()
	if s.start != nil && !s.oneClass() {
		if err := s.checkStart(p.Rows.Cols(), s.classes()); err != nil {
			return nil, err
		}
	}
	t, err := newTask(s)
	if err != nil {
		return nil, err
	}
	if t.options.Method == "pair_switching" && !t.paired() {
		return nil, fault.Argument("method is %q: it is for two classes, and there are %d; use annealing or switching",
			t.options.Method, t.classes)
	}
	found := t.solve()
	if found.end.reason == givenUp {
		return nil, nil
	}
	return t.result(p, &found)
}

// classes is the number of classes: those of the labels, and those that class_prior knows besides.
func (s *sample) classes() int {
	classes := len(s.options.ClassPrior.Shares)
	for _, y := range s.class {
		classes = max(classes, int(y)+1)
	}
	return classes
}

func (t *task) solve() solution {
	switch {
	case t.paired() && t.oneClass():
		return t.constant()
	case !t.transductive():
		return t.solveSupervised()
	case t.options.Method == "annealing":
		return t.anneal()
	case t.options.Method == "switching":
		return t.switching()
	case t.options.probable():
		return t.expect()
	}
	return t.pairSwitching()
}

// result checks a solution and makes the result of it.
func (t *task) result(p Problem, s *solution) (*Result, error) {
	constant := s.end.reason == "one_class"
	if t.movesThreshold() && s.end.reason != "not_finite" && !constant {
		t.moveIntercepts(s)
	}
	score := t.score(s)
	objective := t.objective(s.loss, s.regularizer, score)
	if t.learnsMeans() {
		objective = t.believed
	}
	if err := t.checkNumbers(objective, s.coef, s.intercept, s.outputs, t.soft); err != nil {
		return nil, err
	}
	if t.transductive() && !t.learnsMeans() && !constant {
		t.checkShares(t.sharesAt(score), t.prior)
	}
	if !t.learnsMeans() {
		t.checkEnd(s.converged, s.gap, &s.end)
	}
	classifier := &model.Linear{
		Classes: t.classes, Features: p.Rows.Cols(), Outputs: model.OutputsOf(t.classes), ClassPrior: t.prior,
		Method: t.options.Method, Iterations: max(1, s.end.steps), Objective: objective, Termination: s.end.reason,
		Warnings: t.warnings,
	}
	classifier.Coef, classifier.Intercept = t.modelWeights(s)
	return &Result{Model: classifier, Returned: t.options.Method, Transduction: t.transduced(p.Labels, score),
		Distributions: t.distributions(), History: t.history.columns(t.options.Method, t.shareColumn())}, nil
}

// learnsMeans says that the method is one of package expectation, and has something to learn from.
func (t *task) learnsMeans() bool { return t.transductive() && t.options.probable() }

// shareColumn is what the history tells of the classes' shares by.
func (t *task) shareColumn() string {
	if t.learnsMeans() {
		return "constraint_residual"
	}
	return "share_distance"
}

// constant is the model when all labeled rows have one class.
func (t *task) constant() solution {
	decision := float64(2*t.class[0] - 1)
	t.warn("one_class", "all labeled rows have class %d: the model gives every row this class. Label a row of another "+
		"class", t.class[0])
	return solution{coef: make([]float64, t.features), intercept: []float64{decision}, loss: t.loss(0),
		outputs: slices.Repeat([]float64{decision}, t.rows.Rows()), converged: true, end: ending{reason: "one_class"}}
}

func (t *task) solveSupervised() solution {
	t.warnSupervised()
	if t.options.Method == "pair_switching" {
		return t.pairSwitching()
	}
	limits := t.supervisedLimits()
	limits.Forcing = 0.2 // rows of equal weight: conjugate gradients gain much by a few more steps
	r, newton, outcome := t.supervised(limits)
	outcome = t.sharpen(r, newton, outcome)
	t.note(r, 0, 0, 0)
	return t.read(r, outcome, t.supervisedEnd(outcome))
}
