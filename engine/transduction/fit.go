package transduction

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
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

// solution is a fitted linear score f(x) = coef . x + intercept.
type solution struct {
	coef      []float64
	intercept float64
	gap       float64 // bound on (objective - optimum) / objective at the final labels
	converged bool
	end       ending
}

// ending says how an outer loop ended.
type ending struct {
	reason string
	steps  int
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

// spent says whether the outer loop has to end, and puts the reason into end.
func (s *sample) spent(end *ending) bool {
	reason := s.limit(end.steps)
	if reason != "" {
		end.reason = reason
	}
	return reason != ""
}

// fit takes the two-class way where it can: it is the same problem with half the work. Without a result the fit was
// given up, see comparison.go.
func (s *sample) fit(p Problem) (*Result, error) {
	s.checkScales()
	classes := s.classes()
	if s.start != nil && !s.oneClass() {
		if err := s.checkStart(p.Rows.Cols(), classes); err != nil {
			return nil, err
		}
	}
	if classes > 2 || s.manyClassOptions() {
		t, err := newClassTask(s, max(2, classes))
		if err != nil {
			return nil, err
		}
		return t.fit(p)
	}
	t, err := newTask(s)
	if err != nil {
		return nil, err
	}
	return t.fit(p)
}

// classes is the number of classes: those of the labels, and those that class_prior knows besides.
func (s *sample) classes() int {
	classes := len(s.options.ClassPrior.Shares)
	for _, y := range s.class {
		classes = max(classes, int(y)+1)
	}
	return classes
}

// manyClassOptions says that the options ask for what only the many-class way has.
func (s *sample) manyClassOptions() bool {
	o := s.options
	return !s.oneClass() && (o.Hierarchy != nil || o.Loss == "maxent" || o.Loss == "crammer_singer")
}

func (t *task) fit(p Problem) (*Result, error) {
	s := t.solve()
	if s.end.reason == givenUp {
		return nil, nil
	}
	scores := t.score(&s)
	objective := t.objective(s, scores)
	err := t.checkNumbers(objective, s.coef, []float64{s.intercept}, scores, t.distributions)
	if err != nil {
		return nil, err
	}
	if got := t.positiveShare(scores, 0); t.transductive() && !t.oneClass() {
		t.checkShares([]float64{1 - got, got}, []float64{1 - t.prior, t.prior})
	}
	t.checkEnd(s.converged, s.gap, &s.end)
	classifier := &model.Linear{
		Classes: 2, Features: p.Rows.Cols(), Outputs: 1,
		Coef: t.unpacked(s.coef, p.Rows.Cols()), Intercept: []float64{s.intercept},
		ClassPrior: t.shares, Method: t.options.Method, Iterations: max(1, s.end.steps),
		Objective: objective, Termination: s.end.reason, Warnings: t.warnings,
	}
	return &Result{Model: classifier, Returned: t.options.Method, Transduction: transduced(p.Labels, scores),
		Distributions: t.distributions, History: t.history.columns(t.options.Method, "positive_share")}, nil
}

func (t *task) solve() solution {
	switch {
	case t.oneClass():
		return t.constant()
	case !t.transductive():
		return t.solveSupervised()
	case t.options.Method == "annealing":
		return t.anneal()
	case t.options.Method == "switching":
		return t.switching()
	}
	return t.pairSwitching()
}

// constant is the model when all labeled rows have one class.
func (t *task) constant() solution {
	s := solution{coef: make([]float64, t.rows.Cols()), intercept: -1, converged: true, end: ending{reason: "one_class"}}
	if t.positive[0] {
		s.intercept = 1
	}
	t.warn("one_class", "all labeled rows have class %d: the model gives every row this class. Label a row of another "+
		"class", t.class[0])
	return s
}

func (t *task) solveSupervised() solution {
	t.warnSupervised()
	if t.options.Method == "pair_switching" {
		return t.pairSwitching()
	}
	r, _, outcome := t.supervised(t.supervisedLimits())
	scores := make([]float64, t.rows.Rows())
	r.ScoreAll(scores)
	t.record(r.Regularizer(), scores, t.margin(), 0, 0, 0)
	return t.read(r, outcome, t.supervisedEnd(outcome))
}

// score gives the scores of all training rows; where the balance asks for it the threshold is first moved to the share
// of positives that the class prior says.
func (t *task) score(s *solution) []float64 {
	scores := make([]float64, t.rows.Rows())
	t.job.Visit(int64(t.rows.NonZeros()))
	t.rows.Times(t.job, scores, s.coef)
	if t.movesThreshold() && !t.oneClass() {
		moved := -t.topLabels(make([]bool, len(t.unlabeled)), scores)
		if math.IsNaN(moved) {
			moved = t.likelierSide() - scores[t.unlabeled[0]]
		}
		if t.distanceFromPrior(scores, moved) < t.distanceFromPrior(scores, s.intercept) {
			s.intercept = moved // not where many equal scores make it worse
		}
	}
	for i := range scores {
		scores[i] += s.intercept
	}
	return scores
}

// likelierSide is the score at the margin of the class with the larger prior: for rows that no threshold parts.
func (t *task) likelierSide() float64 {
	if t.prior < 0.5 {
		return -1
	}
	return 1
}

// distanceFromPrior is how far the share of positives at an intercept is from the class prior.
func (t *task) distanceFromPrior(scores []float64, intercept float64) float64 {
	return math.Abs(t.positiveShare(scores, intercept) - t.prior)
}

// objective is the transductive objective of the returned classifier.
func (t *task) objective(s solution, scores []float64) float64 {
	square := 0.0
	for _, w := range s.coef {
		square += w * w
	}
	if t.options.FitIntercept && !t.centred() {
		square += s.intercept * s.intercept
	}
	return t.transductiveObjective(t.options.Alpha/2*square, scores, t.margin())
}

// unpacked gives the weights their places in the problem's features [d], for rows in its units.
func (t *task) unpacked(coef []float64, cols int) []float64 {
	out := make([]float64, cols)
	for k, w := range coef {
		out[t.feature[k]] = w / t.length
	}
	return out
}

func (t *task) read(r *risk.Risk, outcome minimize.Outcome, end ending) solution {
	coef, intercept := r.Linear()
	return solution{coef: slices.Clone(coef), intercept: intercept, gap: outcome.Gap / outcome.Value,
		converged: outcome.Converged && !lost(outcome), end: end}
}

// transduced keeps given labels and places the other rows by the sign of their score.
func transduced(labels []int32, scores []float64) []int32 {
	classes := slices.Clone(labels)
	for i, label := range labels {
		if label >= 0 {
			continue
		}
		classes[i] = 0
		if scores[i] > 0 {
			classes[i] = 1
		}
	}
	return classes
}
