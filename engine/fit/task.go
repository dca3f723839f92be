package fit

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// task is a problem with its classes made ready.
//
//	Problem  min over W and labels q_j  α/2 |W|² + Σ_i w_i ξ(s_i, y_i) + λ' Σ_j w_j Σ_y q_jy ξ(s_j, y)  subject
//	         to Σ_j w_j q_jy = φ(y)
//	Symbols  i labeled, j unlabeled rows; w_j weights, each kind sums to 1; s_j = M Wᵀ x_j class scores; φ class prior;
//	         ξ a loss of package loss; λ' weight of the unlabeled rows
//	Source   Sindhwani & Keerthi 2006, equation 5; Keerthi, Sundararajan & Shevade 2012, equations 1 to 4
type task struct {
	*sample.Sample
	Job     *work.Job      // of this run, in place of the sample's
	Options method.Options // likewise: see run
	method  *method.Traits // of these
	start   *model.Linear  // where it begins; nil: at the supervised solution
	trace   *trace.Trace
	classes int
	scores  scores.Map
	prior   []float64 // [K] φ

	level    float64   // λ' while soft labels are found, see softWeight; then the weight of the unlabeled rows
	rival    float64   // objective to end below, or the fit is given up; 0: none
	costs    []float64 // [unlabeled, K] λ' ξ at the scores of the last measure
	units    []int32   // [units] place in Unlabeled of what gets a hard label; nil: every row does, see units.go
	copied   []float64 // [units, K] costs
	before   []int32   // [units] labels of relabel
	soft     []float64 // [unlabeled, K] the last soft labels, or nil
	origin   origin
	asked    *method.Traits // the method asked for: few rows may have chosen the other, see few.go
	believed float64        // objective of the methods that learn from probabilities
}

// run is what one run over a sample has of its own.
type run struct {
	job     *work.Job
	options method.Options
	start   *model.Linear
	rival   float64 // see task
}

func newTask(s *sample.Sample, r run) (*task, error) {
	asked := r.options.Traits()
	if asked.Begins != "" {
		r.options.Method = asked.Begins
	}
	t := &task{Sample: s, Job: r.job, Options: r.options, method: r.options.Traits(), asked: asked, start: r.start,
		rival: r.rival, classes: s.Classes(), level: r.options.UnlabeledWeight, units: findUnits(s)}
	if n := s.All.Rows; t.classes > n && !s.Paired() {
		return nil, fault.Data("class_prior has %d classes, more than the %d rows", t.classes, n)
	}
	var err error
	if t.scores, err = scoreMap(s); err != nil {
		return nil, err
	}
	if t.prior, err = s.ClassShares(t.classes); err != nil {
		return nil, err
	}
	t.trace = s.Trace(t.Job)
	t.trace.Warnings = append(t.trace.Warnings, s.ScaleWarnings()...)
	return t, nil
}

// scoreMap is a pair where two classes need one column only, otherwise a tree.
func scoreMap(s *sample.Sample) (scores.Map, error) {
	switch {
	case s.Paired():
		return scores.Pair{}, nil
	case s.Options.Hierarchy == nil:
		return scores.NewTree(s.Classes(), scores.FlatParents(s.Classes()))
	}
	parents := make([]int32, len(s.Options.Hierarchy))
	for v, p := range s.Options.Hierarchy {
		parents[v] = int32(max(-2, min(p, math.MaxInt32)))
	}
	return scores.NewTree(s.Classes(), parents)
}

// loss is the loss of a row; smoothing is that of the hinge of Crammer & Singer.
func (t *task) loss(smoothing float64) loss.Classes {
	switch free := t.method.Belief == method.Free; {
	case free && t.Paired():
		return loss.Signed{Margin: loss.Huber{Band: band}, Unlabeled: loss.Plateau{Flat: flat}}
	case free:
		return loss.Gap{Margin: loss.Huber{Band: band}, Unlabeled: loss.Plateau{Flat: flat}, Sharpness: sharpness}
	case t.Paired():
		return loss.Signed{Margin: t.margin()}
	case t.Options.Loss == method.Maxent:
		return loss.Softmax{Smoothing: 1}
	case t.Options.Loss == method.CrammerSinger:
		return loss.Softmax{Smoothing: smoothing, Margin: 1}
	}
	return loss.OneAgainstRest{Margin: t.margin()}
}

// margin is the loss of a margin.
func (t *task) margin() loss.Margin {
	switch t.Options.Loss {
	case method.Hinge:
		return loss.Hinge{}
	default:
		return loss.SquaredHinge{}
	}
}

// frame is where the intercepts come from.
func (t *task) frame() risk.Frame {
	switch {
	case !t.Options.FitIntercept:
		return risk.Frame{}
	case !t.centred():
		return risk.Frame{Constant: true}
	case t.Paired():
		return risk.Frame{Center: t.Center(t.Job), Mean: []float64{2*t.prior[1] - 1}}
	}
	mean := make([]float64, t.classes)
	for y, share := range t.prior {
		if mean[y] = 2*share - 1; t.method.Belief == method.Free {
			mean[y] = share // scores are compared with each other there, and not with the sides -1 and 1
		}
	}
	return risk.Frame{Center: t.Center(t.Job), Mean: mean}
}

// inRows reports whether weights are held as sums of rows: less than weights of features where there are fewer rows. A
// start is no such sum, one column is little to hold, quasi-Newton steps need the weights, and machines have to add
// these. Measured on whole fits of wap and k1b, 5 labels a class: 1.2 to 1.5 times the time without.
func (t *task) inRows() bool {
	return t.Job.Group == nil && t.start == nil && !t.Paired() && t.method.Belief != method.Free &&
		t.Rows.Rows() < t.Rows.Cols()
}

// risk is the objective with the labeled rows in it, at the start or at W = 0.
func (t *task) risk() *risk.Risk {
	frame := t.frame()
	if frame.Constant {
		frame.Center = t.Center(t.Job) // the coordinates that suit conjugate gradients
	}
	r := risk.New(t.Job, t.Rows, t.scores, t.loss(smoothings[0]), frame, t.Options.Alpha, t.inRows())
	t.moveToStart(r)
	for k, i := range t.Labeled {
		r.Label[i], r.Cost[i] = t.Class[k], t.LabeledWeight[k]
	}
	r.UpdateSupport()
	r.PreconditionBy(t.Labeled, t.Copies)
	return r
}

// supervised minimizes the risk of the labeled rows alone, and gives the risk and its minimizer for what follows.
func (t *task) supervised(limits minimize.Limits) (*risk.Risk, *minimize.Newton, minimize.Outcome) {
	r := t.risk()
	newton := minimize.NewNewton(r.Dim(), t.Job.Pool)
	return r, newton, newton.Minimize(r, limits)
}

// measure puts the costs of the unlabeled rows at the current scores into t.costs.
func (t *task) measure(r *risk.Risk) {
	k := t.classes
	if t.costs == nil {
		t.costs = make([]float64, len(t.Unlabeled)*k)
	}
	t.Job.EachRow(len(t.Unlabeled), func(lo, hi int) {
		if r.PairCosts(t.costs[lo*k:hi*k], t.Unlabeled[lo:hi], t.level) {
			return
		}
		scores := make([]float64, k)
		for j := lo; j < hi; j++ {
			row := t.costs[j*k : (j+1)*k]
			r.Costs(row, t.Unlabeled[j], scores)
			vector.Scale(row, t.level)
		}
	})
}

// A scorer puts the class scores of a row into dst [K].
type scorer func(dst []float64, row int32)

// objective is the transductive objective at these scores, each unlabeled row at its cheapest class, and the shares of
// the classes among the unlabeled rows, by their scores.
func (t *task) objective(l loss.Classes, regularizer float64, score scorer) (value float64, shares []float64) {
	sums, transductive := make([]float64, 2+t.classes), t.Transductive() // labeled loss, unlabeled loss, shares
	t.Job.Total(len(t.Unlabeled), sums, func(lo, hi int, dst []float64) {
		scores, costs := make([]float64, t.classes), make([]float64, t.classes)
		for k := lo; k < hi; k++ {
			score(scores, t.Unlabeled[k])
			dst[2+vector.Largest(scores)] += t.UnlabeledWeight[k]
			if transductive {
				dst[1] += t.UnlabeledWeight[k] * t.unlabeledLoss(l, scores, costs)
			}
		}
	})
	sums[0] = t.labeledLoss(l, score)
	t.Job.Reduce(sums)
	return regularizer + sums[0] + t.Options.UnlabeledWeight*sums[1], sums[2:]
}

// unlabeledLoss is the loss of an unlabeled row at these scores; scratch [K] is written.
func (t *task) unlabeledLoss(l loss.Classes, scores, scratch []float64) float64 {
	if t.method.Belief == method.Free {
		return l.At(scores, nil, scratch, make([]float64, len(scratch)))
	}
	l.Costs(scratch, scores)
	return slices.Min(scratch)
}

// labeledLoss is the part that the labeled rows of this machine have in the mean loss of all.
func (t *task) labeledLoss(l loss.Classes, score scorer) (total float64) {
	scores, costs := make([]float64, t.classes), make([]float64, t.classes)
	for k, i := range t.Labeled {
		score(scores, i)
		l.Costs(costs, scores)
		total += t.LabeledWeight[k] * costs[t.Class[k]]
	}
	return total
}

// ownShares are the parts that the unlabeled rows of this machine have in the shares of the classes, by their scores.
func (t *task) ownShares(score scorer) []float64 {
	shares := make([]float64, t.classes)
	t.Job.Total(len(t.Unlabeled), shares, func(lo, hi int, dst []float64) {
		scores := make([]float64, t.classes)
		for k := lo; k < hi; k++ {
			score(scores, t.Unlabeled[k])
			dst[vector.Largest(scores)] += t.UnlabeledWeight[k]
		}
	})
	return shares
}

// shareDistance is the largest distance of a class's share from its prior.
func (t *task) shareDistance(shares []float64) float64 {
	distance := 0.0
	for y, share := range shares {
		distance = max(distance, math.Abs(share-t.prior[y]))
	}
	return distance
}

// note adds an outer step to the history.
func (t *task) note(r *risk.Risk, level float64, switched int, entropy float64) {
	t.noteAt(r.Score, r.Regularizer(), level, switched, entropy, r.Loss())
}

func (t *task) noteAt(score scorer, regularizer, level float64, switched int, entropy float64, l loss.Classes) {
	objective, shares := t.objective(l, regularizer, score)
	t.trace.Record(objective, t.shown(level), switched, t.shareToShow(shares), entropy)
}

// noteOwn is note with the labels changed and the part of the entropy of this machine; it returns those of all.
func (t *task) noteOwn(r *risk.Risk, level float64, switched int, entropy float64) (int, float64) {
	sums := []float64{float64(switched), entropy}
	t.Job.ReduceDeferred(sums)
	objective, shares := t.objective(r.Loss(), r.Regularizer(), r.Score)
	t.trace.Record(objective, t.shown(level), int(sums[0]), t.shareToShow(shares), sums[1])
	return int(sums[0]), sums[1]
}

// shown is a level as the history has it, which is that of the method asked for: a weight is no temperature.
func (t *task) shown(level float64) float64 {
	if t.asked.Belief != t.method.Belief {
		return 0
	}
	return level
}

// shareToShow is what the history tells of the classes' shares: that of class 1 of a pair, otherwise the distance from
// the prior.
func (t *task) shareToShow(shares []float64) float64 {
	switch {
	case t.Paired():
		return shares[1]
	case t.Transductive():
		return t.shareDistance(shares)
	}
	return 0
}
