package fit

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// checkEnd warns of a fit that has not converged, and corrects the path's reason.
func checkEnd(r *method.Run, solution *method.Solution) {
	p, maxIter, tol := r.Path, float64(r.Options.MaxIter), r.Options.Tol
	switch {
	case p.Reason == ending.MaxIter && !r.Objective.Sample.Transductive():
		p.Trace.Warn(warning.MaxIterDistance, maxIter, solution.Gap, tol)
		return
	case p.Reason == ending.MaxIter:
		p.Trace.Warn(warning.MaxIter, maxIter)
	case p.Reason == ending.Unsettled:
		p.Trace.Warn(warning.Unsettled, path.SettleRounds)
	}
	if solution.Converged {
		return
	}
	p.Trace.Warn(solution.Unconverged, solution.Gap, tol)
	if !p.Reason.Early() {
		p.Reason = ending.NotConverged
	}
}

// checkShares warns of thresholds that cannot move, and of predicted classes. Methods of probabilities have their own.
func checkShares(f *fitted) {
	x := f.setting
	if !x.sample.Transductive() || f.reason == ending.OneClass || f.spec.UsesProbabilities {
		return
	}
	if !x.averages() {
		checkPredicted(f)
	}
	if balance := x.options.Balance; !x.options.FitIntercept && (balance == "share" || balance == "mean") {
		f.warn(warning.Balance)
	}
}

// checkPredicted warns of classes predicted for less than half of their share of the unlabeled rows. A committee
// predicts others than the estimated shares, and does not lose by it: docs/notes/committee.md.
func checkPredicted(f *fitted) {
	s, prior := f.setting.sample, f.setting.prior.Shares
	shares, rows := make([]float64, len(prior)), float64(s.All.Unlabeled)
	for k, i := range s.Unlabeled {
		shares[f.Transduction[i]] += s.UnlabeledWeight[k]
	}
	s.Job.Reduce(shares)
	for class, share := range shares {
		switch {
		case share >= prior[class]/2:
		case prior[class]*rows < 1:
			f.warn(warning.SmallShare, float64(class), prior[class], rows)
		default:
			f.warn(warning.Collapse, float64(class), share, prior[class])
		}
	}
}

func (f *fitted) warn(kind warning.Kind, values ...float64) {
	f.Model.Warnings = append(f.Model.Warnings, kind.Of(values...))
}

// moveIntercepts adds the potentials of the best labeling to the class scores, so that the largest ones give it, or a
// part of them.
func moveIntercepts(r *method.Run, solution *method.Solution, part float64) {
	o, outputs := r.Objective, solution.Outputs
	score := solution.Score(o)
	shift := r.Costs.Potentials(score)
	vector.Scale(shift, part)
	if len(solution.Intercept) == 1 {
		shift = []float64{(shift[1] - shift[0]) / 2}
	}
	_, before := o.Value(solution.Loss, 0, score)
	solution.Outputs = slices.Clone(outputs)
	o.Job.Every(o.Sample.Rows.Rows(), func(i int) {
		vector.Add(solution.Outputs[i*len(shift):(i+1)*len(shift)], 1, shift)
	})
	if _, after := o.Value(solution.Loss, 0, score); !(o.Distance(after) < o.Distance(before)-roundedShare) {
		solution.Outputs = outputs // many equal scores
		return
	}
	for y, v := range shift {
		if !o.Centered && o.Scores.Flat() { // intercepts are regularized; in a tree the nodes' are, and stay
			solution.Regularizer += o.Alpha / 2 * v * (2*solution.Intercept[y] + v)
		}
		solution.Intercept[y] += v
	}
}

const roundedShare = 1e-12 // above the rounding of a share, below the weight of a row

// renumbered are the same where row i has the number rows[i]; below 0 it is on another machine.
func (c classed) renumbered(rows []int32) classed {
	out := classed{class: []int32{}} // not nil
	for k, i := range c.rows {
		if rows[i] >= 0 {
			out.add(rows[i], c.class[k], c.weights[k])
		}
	}
	return out
}

// agreement is the share of the unlabeled rows that keep the class of the supervised start; NaN where there is none.
func agreement(s *sample.Sample, began classed, classes []int32) float64 {
	switch {
	case s.All.Unlabeled == 0 || s.Constant():
		return math.NaN()
	case !s.Transductive():
		return 1
	case began.class == nil:
		return math.NaN()
	}
	var sums [2]float64 // weight of the rows with the same class, of all
	for k, i := range began.rows {
		if began.class[k] == classes[i] {
			sums[0] += began.weights[k]
		}
	}
	sums[1] = vector.Sum(began.weights)
	s.Job.Reduce(sums[:])
	return sums[0] / sums[1]
}
