package fit

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Result is what Fit has learned.
type Result struct {
	Model         *model.Linear
	Returned      string    // the method that the solution comes from, see best.go
	Transduction  []int32   // [n] class of every training row: given, or predicted by the model
	Distributions []float64 // [n, classes] soft labels, or nil where the method has none
	History       []trace.Column
	Alpha         float64 // strength of the regularization and weight of the unlabeled rows, as used
	Weight        float64
	Agreement     float64      // share of unlabeled rows with the class of the supervised start, see agreement.go
	Calibration   *Calibration // nil: not asked for, or not possible
}

// Calibration turns scores s [K] of a row into the probabilities (1 - e) softmax(s/T) + e/K of its classes; two classes
// with one decision f have the scores (0, f).
type Calibration struct {
	Temperature float64 // T
	Smoothing   float64 // e
	HeldOut     int     // labeled rows from which T was found
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

// run is one run; it is nil where it was given up, as it would not have ended below the bound.
func run(x *setting, job *work.Job, begin from, bound float64) (*fitted, error) {
	row := begin.row
	if row == nil {
		row = x.named.First()
	}
	r := x.newRun(job, row, begin, bound)
	found := solve(r, row)
	switch r.Path.Reason {
	case ending.GivenUp:
		return nil, nil
	case ending.NotFinite:
		return nil, x.sample.OutOfRange()
	}
	return resultOf(x, r, found, row, begin)
}

// solve finds a solution.
func solve(r *method.Run, row *method.Row) *method.Solution {
	s := r.Objective.Sample
	switch {
	case s.Constant():
		return method.FitOneClass(r)
	case s.Transductive():
		return row.Fit(r)
	}
	warnSupervised(r)
	return method.FitSupervised(r)
}

// resultOf checks a solution and makes the result of it.
func resultOf(x *setting, r *method.Run, found *method.Solution, row *method.Row, begin from) (*fitted, error) {
	value := 0.0
	if row.Probable && x.sample.Transductive() && !x.sample.Constant() {
		value = r.Path.Trace.Objective(0)
	} else {
		value = conclude(x, r, found, x.movesThreshold(row))
	}
	if err := x.sample.CheckFinite(value, found.Coef, found.Intercept, found.Outputs, found.Soft); err != nil {
		return nil, err
	}
	out := &fitted{row: row, reason: r.Path.Reason, before: begin.steps, origin: begin.origin,
		Result: &Result{Model: modelOf(x, r, found, value), Returned: string(row.Name), History: r.Path.Trace.Columns(),
			Alpha: x.options.Alpha, Weight: x.sample.Options.UnlabeledWeight,
			Transduction:  transduced(x.sample, found.Score(r.Objective)),
			Distributions: distributions(x, found.Soft)}}
	if r.Origin != nil {
		out.origin = origin{x.sample.Unlabeled, r.Origin, x.sample.UnlabeledRows}
	}
	if r.Path.Trace.Steps() > 0 {
		out.last = r.Path.Trace.Objective(0)
	}
	if x.named.Soft && !row.Soft { // the method that was chosen has hard labels
		out.Distributions = distributions(x, make([]float64, len(x.sample.Unlabeled)*r.Objective.Classes))
		harden(x.sample, out.Distributions, out.Transduction)
	}
	return out, nil
}

// conclude moves thresholds, warns of the end and of classes that have lost rows, and gives the objective.
func conclude(x *setting, r *method.Run, found *method.Solution, moves bool) (value float64) {
	labeled := r.Path.Reason != ending.OneClass
	if moves && labeled {
		moveIntercepts(r, found)
	}
	value, shares := r.Objective.Value(found.Loss, found.Regularizer, found.Score(r.Objective))
	if x.sample.Transductive() && labeled {
		checkShares(r, shares, moves)
	}
	checkEnd(r, found)
	return value
}

// modelOf is the classifier with its report.
func modelOf(x *setting, r *method.Run, found *method.Solution, value float64) *model.Linear {
	classes := r.Objective.Classes
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

// transduced keeps given labels and places the other rows by their largest score, of the classes that they can have.
func transduced(s *sample.Sample, score objective.Scorer) []int32 {
	out, row := slices.Clone(s.Labels), make([]float64, s.Classes())
	place := func(i int32, prior []float64) {
		score(row, i)
		for y, cost := range prior {
			if math.IsInf(cost, 1) {
				row[y] = math.Inf(-1)
			}
		}
		out[i] = int32(vector.Largest(row))
	}
	for i, label := range s.Labels {
		if label < 0 || int(label) >= len(row) { // the latter has weight 0
			place(int32(i), nil)
		}
	}
	for k, i := range s.Unlabeled {
		if s.Forbids {
			place(i, s.PriorOf(k))
		}
	}
	return out
}

// distributions are the soft labels of all rows [n, K]; given labels are certain, rows of weight 0 follow the class
// prior.
func distributions(x *setting, soft []float64) []float64 {
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
func harden(s *sample.Sample, distributions []float64, classes []int32) {
	k := s.Classes()
	for _, i := range s.Unlabeled {
		row := distributions[int(i)*k : (int(i)+1)*k]
		clear(row)
		row[classes[i]] = 1
	}
}
