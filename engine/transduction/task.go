package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// task is a problem with its classes made ready.
//
//	Problem  min over W and labels q_j  α/2 |W|² + Σ_i w_i ξ(s_i, y_i) + λ' Σ_j w_j Σ_y q_jy ξ(s_j, y)  subject to
//	         Σ_j w_j q_jy = φ(y)
//	Symbols  i labeled, j unlabeled rows; w_j weights, each kind sums to 1; s_j = M Wᵀ x_j class scores; φ class prior;
//	         ξ a loss of package loss; λ' weight of the unlabeled rows
//	Source   Sindhwani & Keerthi 2006, equation 5; Keerthi, Sundararajan & Shevade 2012, equations 1 to 4
type task struct {
	*sample
	classes int
	scores  scores.Map
	prior   []float64 // [K] φ

	costs    []float64 // [unlabeled, K] λ' ξ at the scores of the last measure
	before   []int32   // [unlabeled] labels of relabel
	soft     []float64 // [unlabeled, K] the last soft labels, or nil
	believed float64   // objective of the methods that learn from probabilities
}

func newTask(s *sample) (*task, error) {
	t := &task{sample: s, classes: max(2, s.classes())}
	if n := s.rows.Rows(); t.classes > n {
		return nil, fault.Data("class_prior has %d classes, more than the %d rows", t.classes, n)
	}
	var err error
	if t.scores, err = s.scoreMap(t.classes); err != nil {
		return nil, err
	}
	t.prior, err = s.prior(t.classes)
	return t, err
}

// scoreMap is a pair where two classes need one column only, otherwise a tree.
func (s *sample) scoreMap(classes int) (scores.Map, error) {
	if s.paired() {
		return scores.Pair{}, nil
	}
	if s.options.Hierarchy == nil {
		return scores.NewTree(classes, scores.FlatParents(classes))
	}
	parents := make([]int32, len(s.options.Hierarchy))
	for v, p := range s.options.Hierarchy {
		parents[v] = int32(max(-2, min(p, math.MaxInt32)))
	}
	return scores.NewTree(classes, parents)
}

// paired says that there are two classes, with a loss of margins and no tree.
func (s *sample) paired() bool {
	o := s.options
	ofClasses := o.Hierarchy != nil || o.Loss == "maxent" || o.Loss == "crammer_singer"
	return s.classes() <= 2 && (s.oneClass() || !ofClasses)
}

// loss is the loss of a row; smoothing is that of the hinge of Crammer & Singer.
func (t *task) loss(smoothing float64) loss.Classes {
	switch {
	case t.paired():
		return loss.Signed{Margin: t.margin()}
	case t.options.Loss == "maxent":
		return loss.Softmax{Smoothing: 1}
	case t.options.Loss == "crammer_singer":
		return loss.Softmax{Smoothing: smoothing, Margin: 1}
	}
	return loss.OneAgainstRest{Margin: t.margin()}
}

// margin is the loss of a margin.
func (s *sample) margin() loss.Margin {
	if s.options.Loss == "hinge" {
		return loss.Hinge{}
	}
	return loss.SquaredHinge{}
}

// frame is where the intercepts come from.
func (t *task) frame() risk.Frame {
	switch {
	case !t.options.FitIntercept:
		return risk.Frame{}
	case !t.centred():
		return risk.Frame{Constant: true}
	case t.paired():
		return risk.Frame{Center: t.center(), Mean: []float64{2*t.prior[1] - 1}}
	}
	mean := make([]float64, t.classes)
	for y, share := range t.prior {
		mean[y] = 2*share - 1
	}
	return risk.Frame{Center: t.center(), Mean: mean}
}

// inRows says whether weights are held as sums of rows: less than weights of features where there are fewer rows. A
// start is no such sum, and one column is little to hold.
func (t *task) inRows() bool { return t.start == nil && !t.paired() && t.rows.Rows() < t.rows.Cols() }

// risk is the objective with the labeled rows in it, at the start or at W = 0.
func (t *task) risk() *risk.Risk {
	frame := t.frame()
	if frame.Constant {
		frame.Center = t.center() // the coordinates that suit conjugate gradients
	}
	r := risk.New(t.job, t.rows, t.scores, t.loss(smoothings[0]), frame, t.options.Alpha, t.inRows())
	t.moveToStart(r)
	for k, i := range t.labeled {
		r.Label[i], r.Cost[i] = t.class[k], t.labeledWeight[k]
	}
	r.Recost()
	r.PreconditionBy(t.labeled)
	return r
}

// supervised minimizes the risk of the labeled rows alone, and gives the risk and its minimizer for what follows.
func (t *task) supervised(limits minimize.Limits) (*risk.Risk, *minimize.Newton, minimize.Outcome) {
	r := t.risk()
	newton := minimize.NewNewton(r.Dim(), t.job.Pool)
	return r, newton, newton.Minimize(r, limits)
}

// measure puts the costs of the unlabeled rows at the current scores into t.costs.
func (t *task) measure(r *risk.Risk) {
	k := t.classes
	if t.costs == nil {
		t.costs = make([]float64, len(t.unlabeled)*k)
	}
	t.job.EachRow(len(t.unlabeled), func(lo, hi int) {
		scores := make([]float64, k)
		for j := lo; j < hi; j++ {
			row := t.costs[j*k : (j+1)*k]
			r.Costs(row, t.unlabeled[j], scores)
			vector.Scale(row, t.level)
		}
	})
}

// A scorer puts the class scores of a row into dst [K].
type scorer func(dst []float64, row int32)

// objective is the transductive objective at these scores: each unlabeled row at its cheapest class.
func (t *task) objective(l loss.Classes, regularizer float64, score scorer) float64 {
	total := regularizer + t.labeledLoss(l, score)
	if !t.transductive() {
		return total
	}
	var sums [1]float64
	t.job.Sum(len(t.unlabeled), sums[:], func(lo, hi int, dst []float64) {
		scores, costs := make([]float64, t.classes), make([]float64, t.classes)
		for k := lo; k < hi; k++ {
			score(scores, t.unlabeled[k])
			l.Costs(costs, scores)
			least := costs[0]
			for _, c := range costs[1:] {
				least = min(least, c)
			}
			dst[0] += t.unlabeledWeight[k] * least
		}
	})
	return total + t.options.UnlabeledWeight*sums[0]
}

// labeledLoss is the mean loss of the labeled rows.
func (t *task) labeledLoss(l loss.Classes, score scorer) (total float64) {
	scores, costs := make([]float64, t.classes), make([]float64, t.classes)
	for k, i := range t.labeled {
		score(scores, i)
		l.Costs(costs, scores)
		total += t.labeledWeight[k] * costs[t.class[k]]
	}
	return total
}

// sharesAt are the shares of the classes among the unlabeled rows, by their scores.
func (t *task) sharesAt(score scorer) []float64 {
	shares := make([]float64, t.classes)
	t.job.Sum(len(t.unlabeled), shares, func(lo, hi int, dst []float64) {
		scores := make([]float64, t.classes)
		for k := lo; k < hi; k++ {
			score(scores, t.unlabeled[k])
			dst[vector.Largest(scores)] += t.unlabeledWeight[k]
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
	distance := 0.0
	if t.transductive() {
		distance = t.shareDistance(t.sharesAt(r.Score))
	}
	t.record(t.objective(r.Loss(), r.Regularizer(), r.Score), level, switched, distance, entropy)
}
