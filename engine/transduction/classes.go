package transduction

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// classTask is a problem with any number of classes made ready.
//
//	Problem  min over W and labels q_j  α/2 |W|² + Σ_i s_i ξ(s_i, y_i) + λ' Σ_j s_j Σ_y q_jy ξ(s_j, y)  subject to
//	         Σ_j s_j q_jy = φ(y)
//	Symbols  i labeled, j unlabeled rows; s_j weights, each kind sums to 1; s_j also the class scores; φ class prior;
//	         ξ a loss of package loss; λ' weight of the unlabeled rows
//	Source   Keerthi, Sundararajan & Shevade 2012, equations 1 to 4
type classTask struct {
	*sample
	classes int
	tree    *scores.Tree
	prior   []float64 // [K] φ
	counts  []int     // [K] of the unlabeled rows
	weighed bool      // the unlabeled rows have unequal weights

	costs         []float64 // [unlabeled, K] λ' ξ at the current scores
	best          []int32   // [unlabeled] of relabel
	distributions []float64 // [n, K]
	believed      float64   // objective of the methods that learn from probabilities
}

func newClassTask(s *sample, classes int) (*classTask, error) {
	if n := s.rows.Rows(); classes > n {
		return nil, fault.Data("class_prior has %d classes, more than the %d rows", classes, n)
	}
	t := &classTask{sample: s, classes: classes}
	var err error
	if t.tree, err = scores.NewTree(classes, t.parents()); err != nil {
		return nil, err
	}
	if t.prior, err = s.prior(classes); err != nil {
		return nil, err
	}
	t.counts = labeling.Counts(t.prior, len(s.unlabeled))
	for _, w := range s.unlabeledWeight {
		t.weighed = t.weighed || w != s.unlabeledWeight[0]
	}
	return t, nil
}

// parents is the tree of the options, or one of classes only.
func (t *classTask) parents() []int32 {
	if t.options.Hierarchy == nil {
		return scores.FlatParents(t.classes)
	}
	parents := make([]int32, len(t.options.Hierarchy))
	for v, p := range t.options.Hierarchy {
		parents[v] = int32(max(-2, min(p, math.MaxInt32)))
	}
	return parents
}

// loss is the loss of a row; smoothing is that of the hinge of Crammer & Singer.
func (t *classTask) loss(smoothing float64) loss.Classes {
	switch t.options.Loss {
	case "maxent":
		return loss.Softmax{Smoothing: 1}
	case "crammer_singer":
		return loss.Softmax{Smoothing: smoothing, Margin: 1}
	}
	return loss.OneAgainstRest{Margin: loss.SquaredHinge{}}
}

// The hinge of Crammer & Singer is smoothed: coarsely on the way, and at the end by these values in turn. The
// smoothed hinge is above the hinge by at most smoothing * log K.
var smoothings = []float64{0.1, 0.03, 0.01, 0.003, 0.001}

// inRows says whether weights are held as sums of rows: less than weights of features where there are fewer rows. A
// start is no such sum.
func (t *classTask) inRows() bool { return t.start == nil && t.rows.Rows() < t.rows.Cols() }

// risk is the objective with the labeled rows in it, at the start or at W = 0.
func (t *classTask) risk() *risk.Classes {
	var center []float64
	if t.options.FitIntercept {
		center = t.center()
	}
	constant := t.options.FitIntercept && !t.centred()
	r := risk.NewClasses(t.job, t.rows, t.tree, constant, center, t.options.Alpha, t.inRows())
	if t.centred() {
		r.Means = make([]float64, t.classes)
		for y, share := range t.prior {
			r.Means[y] = 2*share - 1
		}
	}
	r.Loss = t.loss(smoothings[0])
	t.moveToStart(r)
	for k, i := range t.labeled {
		r.Label[i], r.Cost[i] = t.class[k], t.labeledWeight[k]
	}
	r.Recost()
	r.PreconditionBy(t.labeled)
	return r
}

// supervised minimizes the risk of the labeled rows alone.
func (t *classTask) supervised(limits minimize.Limits) (*risk.Classes, *minimize.Newton, minimize.Outcome) {
	r := t.risk()
	newton := minimize.NewNewton(r.Dim(), t.job.Pool)
	return r, newton, newton.Minimize(r, limits)
}

// measure puts the costs of the unlabeled rows at the current scores into t.costs.
func (t *classTask) measure(r *risk.Classes) {
	k := t.classes
	if t.costs == nil {
		t.costs = make([]float64, len(t.unlabeled)*k)
	}
	t.job.EachRow(len(t.unlabeled), func(lo, hi int) {
		for j := lo; j < hi; j++ {
			row := t.costs[j*k : (j+1)*k]
			r.Loss.Costs(row, r.Score(t.unlabeled[j]))
			for y := range row {
				row[y] *= t.level
			}
		}
	})
}

// objective is the transductive objective at these scores: each unlabeled row at its cheapest class.
func (t *classTask) objective(l loss.Classes, regularizer float64, score func(i int32) []float64) float64 {
	total := regularizer + t.labeledLoss(l, score)
	if !t.transductive() {
		return total
	}
	var sums [1]float64
	t.job.Sum(len(t.unlabeled), sums[:], func(lo, hi int, dst []float64) {
		costs := make([]float64, t.classes)
		for k := lo; k < hi; k++ {
			l.Costs(costs, score(t.unlabeled[k]))
			dst[0] += t.unlabeledWeight[k] * slices.Min(costs)
		}
	})
	return total + t.options.UnlabeledWeight*sums[0]
}

// labeledLoss is the mean loss of the labeled rows.
func (t *classTask) labeledLoss(l loss.Classes, score func(i int32) []float64) (total float64) {
	costs := make([]float64, t.classes)
	for k, i := range t.labeled {
		l.Costs(costs, score(i))
		total += t.labeledWeight[k] * costs[t.class[k]]
	}
	return total
}

// shares are those of the classes among the unlabeled rows, by their scores.
func (t *classTask) shares(score func(i int32) []float64) []float64 {
	shares := make([]float64, t.classes)
	for k, i := range t.unlabeled {
		shares[vector.Largest(score(i))] += t.unlabeledWeight[k]
	}
	return shares
}

// shareDistance is the largest distance of a class's share from its prior.
func (t *classTask) shareDistance(score func(i int32) []float64) float64 {
	distance := 0.0
	for y, share := range t.shares(score) {
		distance = max(distance, math.Abs(share-t.prior[y]))
	}
	return distance
}

// note adds an outer step to the history.
func (t *classTask) note(r *risk.Classes, level float64, switched int, entropy float64) {
	distance := 0.0
	if t.transductive() {
		distance = t.shareDistance(r.Score)
	}
	t.recordValues(t.objective(r.Loss, r.Regularizer(), r.Score), level, switched, distance, entropy)
}
