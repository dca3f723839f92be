package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Result is what Fit has learned.
type Result struct {
	Model         *model.Linear
	Returned      string    // the method that the solution comes from, see best.go
	Transduction  []int32   // [n] class of every training row: given, or predicted by the model
	Distributions []float64 // [n, classes] soft labels, or nil where the method has none
	History       []trace.Column
	Agreement     float64      // share of unlabeled rows with the class of the supervised start, see agreement.go
	Calibration   *Calibration // nil: not asked for, or not possible
}

// fitted is the result of a run, with what decides about the next one.
type fitted struct {
	*Result
	row    *method.Row
	reason ending.Reason
	last   float64 // objective of the last step
	before int     // steps of the run before
	origin origin
}

// result checks a solution and makes the result of it.
func (x *setting) result(r *method.Run, found *method.Solution, row *method.Row, begin from) (*fitted, error) {
	constant := r.Path.Reason == ending.OneClass
	if x.movesThreshold(row) && !constant {
		moveIntercepts(r, found)
	}
	score := found.Score(r.Objective)
	value, shares := r.Objective.Value(found.Loss, found.Regularizer, score)
	probable := row.Probable && x.sample.Transductive()
	if probable {
		value = r.Path.Trace.Objective(0)
	}
	if err := x.sample.CheckFinite(value, found.Coef, found.Intercept, found.Outputs, found.Soft); err != nil {
		return nil, err
	}
	if x.sample.Transductive() && !probable && !constant {
		x.checkShares(r.Path.Trace, shares, x.movesThreshold(row))
	}
	if !probable {
		x.checkEnd(r.Path, found, row)
	}
	out := &fitted{Result: &Result{Model: x.model(r, found, value), Returned: string(row.Name),
		Transduction: x.transduced(score), Distributions: x.distributions(found.Soft)},
		row: row, reason: r.Path.Reason, before: begin.steps, origin: begin.origin}
	if r.Origin != nil {
		out.origin = origin{x.sample.Unlabeled, r.Origin, x.sample.UnlabeledRows}
	}
	x.present(out, r.Path.Trace, probable)
	return out, nil
}

// present adds the history in the columns of the method of the options, which may have chosen another one: that one's
// weights are no temperatures, and its labels are hard.
func (x *setting) present(found *fitted, t *trace.Trace, probable bool) {
	shown := x.options.Row()
	found.History = t.Columns(shown.Level, x.shareColumn(probable), shown.Keeps.Soft || probable)
	if len(found.History) > 0 {
		found.last = t.Objective(0)
	}
	if shown.Level != found.row.Level {
		clear(found.History[1].Values)
	}
	if shown.Keeps.Soft && !found.row.Keeps.Soft {
		found.Distributions = x.distributions(make([]float64, len(x.sample.Unlabeled)*x.sample.Classes()))
		x.harden(found.Distributions, found.Transduction)
	}
}

// shareColumn is the history's column about the classes' shares.
func (x *setting) shareColumn(probable bool) string {
	switch {
	case probable:
		return "constraint_residual"
	case x.sample.Paired():
		return "positive_share"
	}
	return "share_distance"
}

// model is the classifier with its report.
func (x *setting) model(r *method.Run, found *method.Solution, value float64) *model.Linear {
	classes := x.sample.Classes()
	m := &model.Linear{
		Classes: classes, Features: x.sample.Features, Outputs: model.OutputsOf(classes), ClassPrior: x.prior.Shares,
		Report: model.Report{Method: string(x.options.Method), Iterations: max(1, r.Path.Steps), Objective: value,
			Termination: r.Path.Reason.String(), Warnings: r.Path.Trace.Warnings},
		Coef: found.Coef, Intercept: found.Intercept,
	}
	if m.Outputs < len(found.Intercept) {
		m.Coef, m.Intercept = difference(found.Coef), difference(found.Intercept)
	}
	return m
}

// difference is that of the second and the first of two outputs.
func difference(sides []float64) []float64 {
	out := make([]float64, len(sides)/2)
	for j := range out {
		out[j] = sides[2*j+1] - sides[2*j]
	}
	return out
}

// transduced keeps given labels and places the other rows by their largest score.
func (x *setting) transduced(score objective.Scorer) []int32 {
	classes, row := slices.Clone(x.labels), make([]float64, x.sample.Classes())
	for i, label := range x.labels {
		if label < 0 || int(label) >= len(row) { // the latter has weight 0
			score(row, int32(i))
			classes[i] = int32(vector.Largest(row))
		}
	}
	return classes
}

// distributions are the soft labels of all rows [n, K]; given labels are certain, rows of weight 0 follow the class
// prior.
func (x *setting) distributions(soft []float64) []float64 {
	if soft == nil {
		return nil
	}
	s, k := x.sample, x.sample.Classes()
	all := make([]float64, s.Rows.Rows()*k)
	for i := range s.Rows.Rows() {
		copy(all[i*k:], x.prior.Shares)
	}
	for n, i := range s.Labeled {
		row := all[int(i)*k : (int(i)+1)*k]
		clear(row)
		row[s.Class[n]] = 1
	}
	for j, i := range s.Unlabeled {
		copy(all[int(i)*k:], soft[j*k:(j+1)*k])
	}
	return all
}

// harden makes the soft labels of the unlabeled rows certain: these classes.
func (x *setting) harden(distributions []float64, classes []int32) {
	k := x.sample.Classes()
	for _, i := range x.sample.Unlabeled {
		row := distributions[int(i)*k : (int(i)+1)*k]
		clear(row)
		row[classes[i]] = 1
	}
}
