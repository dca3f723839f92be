package transduction

import (
	"fmt"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Result is what Fit has learned.
type Result struct {
	Model         *model.Linear
	Transduction  []int32   // [n] class of every training row: given, or predicted by the model
	Distributions []float64 // [n, classes] soft labels, or nil where the method has none
	History       []Column
}

// Fit learns a classifier from labeled and unlabeled rows. It returns fault.ErrCancelled soon after
// progress.Cancel is set; progress may be nil.
func Fit(p Problem, options Options, progress *work.Progress) (result *Result, err error) {
	err = work.Guard(func() error {
		if options.Loss == "hinge" && options.Method != "pair_switching" {
			return fault.Argument("loss is \"hinge\": it goes with method pair_switching only, not with %s", options.Method)
		}
		t, err := newTask(p, options, work.NewJob(options.Threads, progress))
		if err != nil {
			return err
		}
		result, err = t.fit(p)
		return err
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

func (t *task) fit(p Problem) (*Result, error) {
	s := t.solve()
	scores := t.score(&s)
	objective := t.objective(s, scores)
	if err := t.checkNumbers(&s, scores, objective); err != nil {
		return nil, err
	}
	t.checkShares(scores)
	t.checkEnd(&s)
	classifier := &model.Linear{
		Classes: 2, Features: p.Rows.Cols(), Outputs: 1,
		Coef: t.unpacked(s.coef, p.Rows.Cols()), Intercept: []float64{s.intercept},
		ClassPrior: []float64{1 - t.prior, t.prior}, Method: t.options.Method, Iterations: max(1, s.end.steps),
		Objective: objective, Termination: s.end.reason, Warnings: t.warnings,
	}
	return &Result{Model: classifier, Transduction: transduced(p.Labels, scores), Distributions: t.distributions,
		History: t.history.columns(t.options.Method)}, nil
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
		"class", t.labelOf(0))
	return s
}

func (t *task) solveSupervised() solution {
	switch len(t.unlabeled) {
	case 0:
		t.warn("no_unlabeled", "no row is unlabeled: this is the supervised solution")
	case 1:
		t.warn("one_unlabeled", "one row only is unlabeled: this is the supervised solution")
	}
	if t.options.Method == "pair_switching" {
		return t.pairSwitching()
	}
	limits := t.finalLimits()
	limits.MaxSteps = min(limits.MaxSteps, t.options.MaxIter)
	r, _, outcome := t.supervised(limits)
	scores := make([]float64, t.rows.Rows())
	r.ScoreAll(scores)
	t.record(r.Regularizer(), scores, t.margin(), 0, 0, 0)
	end := ending{reason: "converged", steps: outcome.Steps}
	if !outcome.Converged && outcome.Steps == t.options.MaxIter {
		end.reason = "max_iter"
	}
	return t.read(r, outcome, end)
}

// score gives the scores of all training rows; where the balance asks for it the threshold is first moved to the share
// of positives that the class prior says.
func (t *task) score(s *solution) []float64 {
	scores := make([]float64, t.rows.Rows())
	t.job.Visit(int64(t.rows.NonZeros()))
	t.rows.Times(t.job.Pool, scores, s.coef)
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

// unpacked gives the weights their places in the problem's features [d].
func (t *task) unpacked(coef []float64, cols int) []float64 {
	out := make([]float64, cols)
	for k, w := range coef {
		out[t.feature[k]] = w
	}
	return out
}

// checkEnd warns when the fit did not end as it should, and sees to it that the reason says so.
func (t *task) checkEnd(s *solution) {
	distance := fmt.Sprintf("at a relative distance of %.2g from the optimum, above tol = %.2g", s.gap, t.options.Tol)
	switch {
	case s.end.reason == "max_iter" && !t.transductive():
		t.warn("convergence", "max_iter = %d Newton steps ended %s: raise max_iter or tol", t.options.MaxIter, distance)
		return
	case s.end.reason == "max_iter":
		t.warn("convergence", "max_iter = %d was reached before the labels settled: raise max_iter", t.options.MaxIter)
	case s.end.reason == "unsettled":
		t.warn("convergence", "labels still changed after %d rounds at the full weight: raise max_switches (0: no limit) "+
			"or alpha", settleRounds)
	}
	if s.converged {
		return
	}
	advice := "raise tol or alpha"
	if value, row, feature := t.largestValue(); math.Abs(value) > 100 {
		advice = fmt.Sprintf("scale your features (X has the value %.4g in row %d, column %d), or raise alpha", value, row,
			feature)
	}
	t.warn("convergence", "the last solve ended %s, and more steps would not help: %s", distance, advice)
	if s.end.reason != "max_iter" {
		s.end.reason = "not_converged"
	}
}

// checkShares warns of a class that is predicted for less than half of its share of the unlabeled rows, and of a
// balance that cannot be had.
func (t *task) checkShares(scores []float64) {
	if !t.transductive() || t.oneClass() {
		return
	}
	if b := t.options.Balance; !t.options.FitIntercept && (b == "share" || b == "mean") {
		t.warn("balance", "balance is %q, but fit_intercept is off and that is what it would set: the class prior is held "+
			"by the counts of labels only, as with balance \"labels\"", b)
	}
	got := t.positiveShare(scores, 0)
	for class, pair := range [2][2]float64{{1 - got, 1 - t.prior}, {got, t.prior}} {
		if pair[0] < pair[1]/2 {
			t.warn("collapse", "class %d is predicted for %.1f%% of the unlabeled rows, where the class prior says %.1f%%: "+
				"the fit may have collapsed. %s check class_prior and the preprocessing (stop words out, idf, rows of unit "+
				"length)", class, 100*pair[0], 100*pair[1], t.againstCollapse())
		}
	}
}

// againstCollapse is the advice that fits the options: whether the threshold could have been moved.
func (t *task) againstCollapse() string {
	switch {
	case !t.options.FitIntercept:
		return "Turn fit_intercept on, so that the threshold can move, label more rows, or"
	case !t.movesThreshold():
		return "Use balance \"share\", label more rows, or"
	}
	return "No threshold parts rows with equal scores: label more rows, or"
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
