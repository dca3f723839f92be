package transduction

import (
	"fmt"

	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Problem is what Fit learns from.
type Problem struct {
	Rows    *csr.Matrix
	Labels  []int32   // [n] class 0 or 1, or -1: unlabeled
	Weights []float64 // [n] weight of each row, >= 0; nil: all 1. A row of weight 0 is as good as absent.
}

// task is a problem with two classes made ready: rows by kind, weights normalized, the share of positives known.
type task struct {
	options Options
	job     *work.Job
	rows    *csr.Matrix // the problem's rows, packed
	feature []int32     // [rows.Cols] the problem's number of each packed feature

	labeled         []int32   // rows with a label and a weight
	positive        []bool    // [labeled] class 1
	labeledWeight   []float64 // [labeled] sums to 1
	unlabeled       []int32   // rows without a label and with a weight
	unlabeledWeight []float64 // [unlabeled] sums to 1

	scratch []float64 // [2 unlabeled] of topLabels
	best    []bool    // [unlabeled] of relabel

	prior         float64 // r: share of class 1 among the unlabeled rows
	warnings      []string
	history       history
	distributions []float64 // [n, 2] soft labels of annealing
}

// maxFeatures keeps a fit within memory that a machine can have: it needs some forty bytes a feature, used or not.
const maxFeatures = 1 << 28

func newTask(p Problem, options Options, job *work.Job) (*task, error) {
	if d := p.Rows.Cols(); d > maxFeatures {
		return nil, fault.Data("n_features is %d: a fit would need %d GB for vectors of that length, and takes at most %d "+
			"features; leave out those that never occur, or hash to fewer", d, int64(d)*40>>30, maxFeatures)
	}
	t := &task{options: options, job: job, rows: p.Rows}
	if err := t.sort(p); err != nil {
		return nil, err
	}
	if len(t.labeled) == 0 {
		return nil, fault.Data("labels: no row has a label; at least one labeled row of each class is needed")
	}
	normalize(t.labeledWeight)
	normalize(t.unlabeledWeight)
	t.rows, t.feature = p.Rows.Packed()
	t.job.Visit(2 * int64(t.rows.NonZeros()))
	return t, t.findPrior()
}

func (t *task) sort(p Problem) error {
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
		case label < -1 || label > 1:
			return fault.Data("labels of row %d is %d: with two classes it must be 0, 1, or -1 (unlabeled)", i, label)
		case weight == 0:
		case label < 0:
			t.unlabeled = append(t.unlabeled, int32(i))
			t.unlabeledWeight = append(t.unlabeledWeight, weight)
		default:
			t.labeled = append(t.labeled, int32(i))
			t.labeledWeight = append(t.labeledWeight, weight)
			t.positive = append(t.positive, label == 1)
		}
	}
	return nil
}

func (t *task) findPrior() error {
	for k, positive := range t.positive {
		if positive {
			t.prior += t.labeledWeight[k]
		}
	}
	switch prior := t.options.ClassPrior; {
	case prior == nil && !t.oneClass() && !(t.prior > 0 && t.prior < 1):
		return fault.Data("weights: the labeled rows of class 1 have a share of %v of the labeled weight, which cannot be "+
			"the class prior: make the weights less unequal, or give class_prior", t.prior)
	case prior == nil:
	case len(prior) != 2:
		return fault.Argument("class_prior has %d entries: two are needed, one a class", len(prior))
	default:
		t.prior = prior[1]
		return checkPrior(prior)
	}
	return nil
}

// oneClass says that all labeled rows have the same class.
func (t *task) oneClass() bool {
	for _, positive := range t.positive {
		if positive != t.positive[0] {
			return false
		}
	}
	return true
}

// labelOf is the class of labeled row k.
func (t *task) labelOf(k int) int {
	if t.positive[k] {
		return 1
	}
	return 0
}

// transductive says whether unlabeled rows take part.
func (t *task) transductive() bool { return len(t.unlabeled) > 1 && t.options.UnlabeledWeight > 0 }

// balances are the ways to hold the class prior; "auto" is the one that measured best for the method.
var balances = []string{"auto", "share", "mean", "labels"}

// balance resolves "auto": the linear constraint for annealing, where it needs the fewest passes; label counts for both
// kinds of switching, which find small classes better without it.
func (t *task) balance() string {
	switch {
	case t.options.Balance != "auto":
		return t.options.Balance
	case t.options.Method == "annealing":
		return "mean"
	}
	return "share"
}

// centred says whether the mean score of the unlabeled rows is held at 2r - 1.
func (t *task) centred() bool {
	return t.options.FitIntercept && t.transductive() && t.balance() == "mean"
}

// movesThreshold says whether the threshold goes to the share r at the end.
func (t *task) movesThreshold() bool {
	return t.options.FitIntercept && t.transductive() && t.balance() != "labels"
}

// frame is where the intercept comes from.
func (t *task) frame() risk.Frame {
	switch {
	case !t.options.FitIntercept:
		return risk.Frame{}
	case t.centred():
		return risk.Frame{Center: t.mean(t.unlabeled, t.unlabeledWeight), Mean: 2*t.prior - 1}
	}
	return risk.Frame{Constant: true}
}

// recentred is the frame in the coordinates that suit conjugate gradients.
func (t *task) recentred() risk.Frame {
	f := t.frame()
	switch {
	case !f.Constant:
	case t.transductive():
		f.Center = t.mean(t.unlabeled, t.unlabeledWeight)
	default:
		f.Center = t.mean(t.labeled, t.labeledWeight)
	}
	return f
}

// mean is the weighted mean [d] of some rows; weights sum to 1.
func (t *task) mean(rows []int32, weights []float64) []float64 {
	weight := make([]float64, t.rows.Rows())
	for k, i := range rows {
		weight[i] = weights[k]
	}
	mean := make([]float64, t.rows.Cols())
	on := t.rows.Subset(rows)
	t.job.Visit(int64(on.NonZeros()))
	t.rows.AddTransposedOn(t.job.Pool, on, mean, weight)
	return mean
}

// supervised minimizes the risk of the labeled rows alone, and gives the risk and its minimizer for what follows.
func (t *task) supervised(limits minimize.Limits) (*risk.Risk, *minimize.Newton, minimize.Outcome) {
	r := risk.New(t.job, t.rows, t.recentred(), loss.SquaredHinge{}, t.options.Alpha)
	for k, i := range t.labeled {
		if t.positive[k] {
			r.Plus[i] = t.labeledWeight[k]
		} else {
			r.Minus[i] = t.labeledWeight[k]
		}
	}
	r.Recost()
	newton := minimize.NewNewton(r.Dim(), t.job.Pool)
	return r, newton, newton.Minimize(r, limits)
}

// finalLimits are those of the last solve.
func (t *task) finalLimits() minimize.Limits {
	return minimize.Limits{Tolerance: t.options.Tol, MaxSteps: 200}
}

// gather puts the scores of the unlabeled rows into dst [unlabeled].
func (t *task) gather(dst, scores []float64) {
	for k, i := range t.unlabeled {
		dst[k] = scores[i]
	}
}

// preference is g = λ' (ξ(f) - ξ(-f)), the cost of an unlabeled row with score f as positive minus that as negative.
func (t *task) preference(f float64, margin loss.Margin) float64 {
	plus, _, _ := margin.At(f)
	minus, _, _ := margin.At(-f)
	return t.options.UnlabeledWeight * (plus - minus)
}

// preferences puts the preference of every unlabeled row into g [unlabeled].
func (t *task) preferences(g, scores []float64, margin loss.Margin) {
	t.job.EachRow(len(g), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			g[k] = t.preference(scores[t.unlabeled[k]], margin)
		}
	})
}

// transductiveObjective is α/2 |w|² + Σ labeled ξ(y f) + λ' Σ unlabeled min(ξ(f), ξ(-f)), averaged, at these scores;
// regularizer is the first term.
func (t *task) transductiveObjective(regularizer float64, scores []float64, margin loss.Margin) float64 {
	total := regularizer
	for k, i := range t.labeled {
		f := scores[i]
		if !t.positive[k] {
			f = -f
		}
		value, _, _ := margin.At(f)
		total += t.labeledWeight[k] * value
	}
	if !t.transductive() {
		return total
	}
	var sums [1]float64
	t.job.Sum(len(t.unlabeled), sums[:], func(lo, hi int, dst []float64) {
		for k := lo; k < hi; k++ {
			f := scores[t.unlabeled[k]]
			plus, _, _ := margin.At(f)
			minus, _, _ := margin.At(-f)
			dst[0] += t.unlabeledWeight[k] * min(plus, minus)
		}
	})
	return total + t.options.UnlabeledWeight*sums[0]
}

// positiveShare is the weighted share of unlabeled rows with score + intercept above 0.
func (t *task) positiveShare(scores []float64, intercept float64) float64 {
	share := 0.0
	for k, i := range t.unlabeled {
		if scores[i]+intercept > 0 {
			share += t.unlabeledWeight[k]
		}
	}
	return share
}

// passes is the number of non-zeros read so far over those of the whole matrix.
func (t *task) passes() float64 { return float64(t.job.Visited()) / float64(max(1, t.rows.NonZeros())) }

// topLabels puts the labels into dst [unlabeled] that give the rows with the largest scores [n] the positive
// label, as many as the prior says; the threshold lies between them and the others, NaN if all scores are equal.
func (t *task) topLabels(dst []bool, scores []float64) (threshold float64) {
	u := len(t.unlabeled)
	if t.scratch == nil {
		t.scratch = make([]float64, 2*u)
	}
	t.gather(t.scratch[:u], scores)
	return labeling.Top(dst, t.scratch[:u], t.unlabeledWeight, t.prior, t.scratch[u:])
}

// warn keeps a warning for the user: "kind: text". Programs tell warnings by their kind; a class has its number after
// the word class.
func (t *task) warn(kind, format string, a ...any) {
	t.warnings = append(t.warnings, kind+": "+fmt.Sprintf(format, a...))
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
