package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/trace"
)

type Result struct {
	Model         *model.Linear
	Returned      string    // the method whose solution this is, see compare.go
	Transduction  []int32   // [n] class of every training row: given, or predicted by the model
	Distributions []float64 // [n, classes] soft labels, or nil where the method has none; calibrated probabilities
	History       []trace.Column
	Alpha         float64 // strength of the regularization and weight of the unlabeled rows, as used
	Weight        float64
	Agreement     float64      // share of unlabeled rows that keep the class of the supervised start: see end.go
	Calibration   *Calibration // nil: not requested, or not possible
	Trained       []Stage      // models trained, in the order of the stages
}

// Calibration turns scores s [K] of a row into the probabilities (1 - e) softmax(s/T) + e/K of its classes; two classes
// with one decision f have the scores (0, f). It is for rows outside the fit, Distributions are for those in it.
type Calibration struct {
	Temperature float64 // T
	Smoothing   float64 // e
	HeldOut     int     // labeled rows from which T was found
}

// fitted is the result of a run, with what the next stages need.
type fitted struct {
	*Result
	setting *setting
	spec    *method.Spec
	trace   *trace.Trace
	reason  ending.Reason
	before  int     // steps of the run before
	origin  classed // see start
}

// conclude is the result for the first n rows, which are the caller's.
func (f *fitted) conclude(n int) *Result {
	x := f.setting
	checkShares(f)
	f.Agreement = agreement(x.sample, f.origin, f.Transduction)
	f.Transduction = f.Transduction[:n]
	if f.Distributions != nil {
		f.Distributions = f.Distributions[:n*f.Model.Classes]
	}
	for k, w := range f.Model.Warnings {
		f.Model.Warnings[k] = w.Named(x.options.ClassNames)
	}
	f.History, f.Trained = f.trace.Columns(), x.trained.stages
	return f.Result
}

func modelOf(x *setting, r *method.Run, solution *method.Solution, value float64) *model.Linear {
	classes := r.Objective.Classes
	m := &model.Linear{
		Classes: classes, Features: x.sample.Features, Outputs: model.OutputsOf(classes), ClassPrior: x.prior.Shares,
		Report: model.Report{Method: string(x.options.Method), Iterations: max(1, r.Path.Steps), Objective: value,
			Termination: string(r.Path.Reason), Warnings: r.Path.Trace.Warnings},
		Coef: solution.Coef, Intercept: solution.Intercept,
	}
	if m.Outputs < len(solution.Intercept) {
		m.Coef, m.Intercept = difference(solution.Coef), difference(solution.Intercept)
	}
	return m
}

func difference(sides []float64) []float64 {
	out := make([]float64, len(sides)/2)
	for j := range out {
		out[j] = sides[2*j+1] - sides[2*j]
	}
	return out
}

// transduced are the given labels, and for other rows the class with the largest score of those they can have.
func transduced(s *sample.Sample, score objective.Scorer) []int32 {
	out, row := slices.Clone(s.Labels), make([]float64, s.Classes())
	for i, label := range s.Labels {
		if label >= 0 && int(label) < len(row) {
			continue
		}
		score(row, int32(i))
		place, found := slices.BinarySearch(s.Unlabeled, int32(i))
		if !found { // of weight 0
			place = -1
		}
		out[i] = s.Weak.Of(place).Best(row)
	}
	return out
}

// distributions are the soft labels of all rows [n, K]; rows of weight 0 have the class shares.
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

// harden makes the soft labels of the unlabeled rows these classes.
func harden(s *sample.Sample, distributions []float64, classes []int32) {
	k := s.Classes()
	for _, i := range s.Unlabeled {
		row := distributions[int(i)*k : (int(i)+1)*k]
		clear(row)
		row[classes[i]] = 1
	}
}

type Stage struct {
	Name   string  `json:"stage"` // "class_prior", a method, "supervised", "mixture" or "calibrate"
	Models int     `json:"n_models"`
	Passes float64 `json:"n_passes"` // of all these models over the non-zeros of all rows
}

type record struct{ stages []Stage }

// add counts models of a stage and the non-zeros they visited; pass is the number of non-zeros of a pass.
func (r *record) add(name string, models int, visited int64, pass int) {
	passes := float64(visited) / float64(max(1, pass))
	if last := len(r.stages) - 1; last >= 0 && r.stages[last].Name == name {
		r.stages[last].Models += models
		r.stages[last].Passes += passes
	} else if models > 0 {
		r.stages = append(r.stages, Stage{name, models, passes})
	}
}
