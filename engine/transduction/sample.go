package transduction

import (
	"fmt"

	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/prior"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Problem is what Fit learns from.
type Problem struct {
	Rows    *csr.Matrix
	Labels  []int32       // [n] class 0 ... K-1, or -1: unlabeled
	Weights []float64     // [n] weight of each row, >= 0; nil: all 1. A row of weight 0 is as good as absent.
	Start   *model.Linear // where to begin, see start.go; nil: from nothing
}

// sample is a problem made ready, for any number of classes: rows by kind, weights normalized; and what the fit says of
// itself.
type sample struct {
	options  Options
	job      *work.Job
	rows     *csr.Matrix // the problem's rows, packed, in units of length
	length   float64     // that unit: the root of the mean square length of the problem's rows that count
	feature  []int32     // [rows.Cols] the problem's number of each packed feature
	features int         // of the problem
	start    *model.Linear

	labeled         []int32   // rows with a label and a weight
	class           []int32   // [labeled]
	labeledRows     []float64 // [labeled] weights as given: numbers of rows
	labeledWeight   []float64 // [labeled] sums to 1
	unlabeled       []int32   // rows without a label and with a weight
	unlabeledWeight []float64 // [unlabeled] sums to 1

	shares   []float64       // [classes] φ of the unlabeled rows, see prior
	picked   bool            // the labeled rows were probably not drawn at random, see balance
	evidence *prior.Evidence // from which class shares were found; nil: they were not

	level      float64 // λ' while soft labels are found, see softWeight; then the weight of the unlabeled rows
	rival      float64 // objective to end below, or the fit is given up; 0: none
	supervised []int32 // [unlabeled] class by the supervised solution where the method began; nil: it began elsewhere

	warnings []string
	ofPrior  []string // those of finding the class prior
	history  history
}

func newSample(p Problem, options Options, job *work.Job) (*sample, error) {
	s := &sample{options: options, job: job, rows: p.Rows, features: p.Rows.Cols(), start: p.Start}
	if err := s.sort(p); err != nil {
		return nil, err
	}
	if len(s.labeled) == 0 {
		return nil, fault.Data("labels: no row has a label; at least one labeled row of each class is needed")
	}
	s.resolveWeight()
	s.level = s.options.UnlabeledWeight
	if err := s.applyClassWeight(); err != nil {
		return nil, err
	}
	normalize(s.labeledWeight)
	normalize(s.unlabeledWeight)
	if err := s.checkMemory(0); err != nil {
		return nil, err
	}
	s.length = p.Rows.RootMeanSquare(job, p.Weights)
	s.rows, s.feature = p.Rows.Packed(job)
	s.rows = s.rows.Scaled(1 / s.length)
	if err := s.checkMemory(s.rows.Cols()); err != nil {
		return nil, err
	}
	s.job.Visit(2 * int64(s.rows.NonZeros()))
	return s, nil
}

func (s *sample) sort(p Problem) error {
	n := p.Rows.Rows()
	if len(p.Labels) != n {
		return fault.Argument("labels has %d entries, but there are %d rows", len(p.Labels), n)
	}
	if p.Weights != nil && len(p.Weights) != n {
		return fault.Argument("weights has %d entries, but there are %d rows", len(p.Weights), n)
	}
	for i, label := range p.Labels {
		weight := 1.0
		if p.Weights != nil {
			weight = p.Weights[i]
		}
		if !(weight >= 0 && weight < 1e300) {
			return fault.Data("weights of row %d is %v: it must be at least 0 and below 1e300", i, weight)
		}
		switch {
		case label < -1 || int(label) >= n:
			return fault.Data("labels of row %d is %d: it must be -1 (unlabeled) or a class number from 0 on, of fewer "+
				"classes than the %d rows", i, label, n)
		case weight == 0:
		case label < 0:
			s.unlabeled = append(s.unlabeled, int32(i))
			s.unlabeledWeight = append(s.unlabeledWeight, weight)
		default:
			s.labeled = append(s.labeled, int32(i))
			s.labeledRows = append(s.labeledRows, weight)
			s.class = append(s.class, label)
		}
	}
	return nil
}

// oneClass says that all labeled rows have the same class.
func (s *sample) oneClass() bool {
	for _, class := range s.class {
		if class != s.class[0] {
			return false
		}
	}
	return true
}

// transductive says whether unlabeled rows take part.
func (s *sample) transductive() bool { return len(s.unlabeled) > 1 && s.options.UnlabeledWeight > 0 }

// balances are the ways to hold the class prior; "auto" is the one that measured best for the method.
var balances = []string{"auto", "share", "mean", "labels"}

// balance resolves "auto": the linear constraint for annealing, where it needs the fewest passes; label counts for both
// kinds of switching, which find small classes better without it, and for losses whose scores have no sides. Where the
// shares were found and the labels were probably picked, class by class, thresholds stay where the labels put them:
// such labels count rare classes as much as others, and a threshold that moves to an estimate takes over its error.
// Measured on Reuters R8, k1b, fbis and wap, 5, 20 and 80 labels of each class: macro F 0.01 better on average, and no
// worse than the supervised model where it was up to 0.013 worse.
func (s *sample) balance() string {
	switch {
	case s.options.Balance != "auto":
		return s.options.Balance
	case s.picked:
		return "labels"
	case s.options.Method == "annealing" && s.options.Loss == "squared_hinge":
		return "mean"
	}
	return "share"
}

// centred says whether the mean score of the unlabeled rows is held at 2r - 1, with r the share of the class.
func (s *sample) centred() bool {
	return s.options.FitIntercept && s.transductive() && s.balance() == "mean"
}

// movesThreshold says whether the intercepts are moved at the end so that each class gets its share.
func (s *sample) movesThreshold() bool {
	return s.options.FitIntercept && s.transductive() && s.balance() != "labels" && !s.options.probable()
}

// center is the mean [d] of the unlabeled rows, or of the labeled ones where no other takes part.
func (s *sample) center() []float64 {
	if s.transductive() {
		return s.mean(s.unlabeled, s.unlabeledWeight)
	}
	return s.mean(s.labeled, s.labeledWeight)
}

// mean is the weighted mean [d] of some rows; weights sum to 1.
func (s *sample) mean(rows []int32, weights []float64) []float64 {
	weight := make([]float64, s.rows.Rows())
	for k, i := range rows {
		weight[i] = weights[k]
	}
	mean := make([]float64, s.rows.Cols())
	on := s.rows.Subset(rows)
	s.job.Visit(int64(on.NonZeros()))
	s.rows.AddTransposedOn(s.job, on, mean, weight)
	return mean
}

// startLimits are those of the supervised solution that a transductive method starts from.
func (s *sample) startLimits() minimize.Limits {
	return minimize.Limits{Tolerance: pathLooseness * s.options.Tol, MaxSteps: 50}
}

// pathLimits are those of the solves on the way.
func (s *sample) pathLimits() minimize.Limits {
	return minimize.Limits{Tolerance: pathLooseness * s.options.Tol, MaxSteps: pathSteps, Line: pathLine}
}

// switchLimits are those of the step between two looks at hard labels.
func (s *sample) switchLimits() minimize.Limits {
	return minimize.Limits{Tolerance: switchLooseness * s.options.Tol, MaxSteps: 1, Line: pathLine}
}

// finalLimits are those of the last solve.
func (s *sample) finalLimits() minimize.Limits {
	limits := minimize.Limits{Tolerance: s.options.Tol, MaxSteps: 200}
	if s.start != nil {
		limits.Forcing = warmForcing
	}
	return limits
}

// exactSteps are those of single steps to the last solve, between looks at hard labels.
func (s *sample) exactSteps() minimize.Limits {
	limits := s.finalLimits()
	limits.MaxSteps = 1
	return limits
}

// settleLimits are the first ones of settling hard labels, given those of a fresh fit.
func (s *sample) settleLimits(fresh minimize.Limits) minimize.Limits {
	if s.start != nil {
		return s.exactSteps()
	}
	return fresh
}

// supervisedLimits are those of a fit without unlabeled rows, whose outer steps are Newton steps.
func (s *sample) supervisedLimits() minimize.Limits {
	limits := s.finalLimits()
	limits.MaxSteps = min(limits.MaxSteps, s.options.MaxIter)
	return limits
}

// supervisedEnd says how such a fit ended.
func (s *sample) supervisedEnd(outcome minimize.Outcome) ending {
	if !outcome.Converged && outcome.Steps == s.options.MaxIter {
		return ending{reason: "max_iter", steps: outcome.Steps}
	}
	return ending{reason: "converged", steps: outcome.Steps}
}

// passes is the number of non-zeros read so far over those of the whole matrix.
func (s *sample) passes() float64 {
	return float64(s.job.Visited()) / float64(max(1, s.rows.NonZeros()))
}

// warn keeps a warning for the user: "kind: text". Programs tell warnings by their kind; a class has its number after
// the word class.
func (s *sample) warn(kind, format string, a ...any) {
	s.warnings = append(s.warnings, kind+": "+fmt.Sprintf(format, a...))
}

func normalize(weights []float64) {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for k := range weights {
		weights[k] /= total
	}
}
