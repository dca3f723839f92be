package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

type Result struct {
	Model           *model.Linear
	Returned        string    // the method whose solution this is, see compare.go
	Transduction    []int32   // [n] class of every training row: given, or predicted by the model
	Distributions   []float64 // [n, classes] soft labels, or nil where the method has none; calibrated probabilities
	History         []path.Column
	Alpha           float64 // strength of the regularization, weight of the unlabeled rows and loss, as used
	Weight          float64
	Loss            string
	CommitteeWeight float64      // of the supervised classifier and the mixture in a committee, 0: it is none
	Carried         float64      // part of the class shares that the unlabeled rows carry, 1 where there are enough
	Agreement       float64      // share of unlabeled rows that keep the class of the supervised start
	Calibration     *Calibration // nil: not requested, or not possible
	Trained         []Stage      // models trained, in the order of the stages
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
	data   *Data
	spec   *method.Spec
	trace  *path.Trace
	origin sample.Selection // see start
	own    []float64        // see ownParts, of T in a committee
	moved  []float64        // by moveIntercepts
}

func (f *fitted) reason() path.Reason { return path.Reason(f.Model.Termination) }

// conclude is the result for the caller's rows, the first ones, and features, where s is the sample of these.
func (f *fitted) conclude(s *sample.Sample) *Result {
	x, n := f.data, len(s.Labels)
	checkShares(f)
	if x.sample != s {
		f.Model = s.Unpacked(f.Model)
	}
	f.Agreement = agreement(x.sample, f.origin, f.Transduction)
	f.Transduction = f.Transduction[:n]
	if f.Distributions != nil {
		f.Distributions = f.Distributions[:n*f.Model.Classes]
	}
	for k, w := range f.Model.Warnings {
		f.Model.Warnings[k] = w.Named(x.options.ClassNames)
	}
	f.History, f.Trained = f.trace.Columns(), x.trained.stages
	if x.sample.Transductive() {
		f.Carried = x.carries
	}
	return f.Result
}

func modelOf(x *Data, r *method.Run, solution *method.Solution, value float64) *model.Linear {
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

// relabel predicts the unlabeled rows anew.
func (f *fitted) relabel(of decisions) {
	f.Transduction = transduced(f.data.sample, func(dst []float64, i int32) { copy(dst, of.scores(i)) })
}

// distributions are the soft labels of all rows [n, K]; rows of weight 0 have the class shares.
func distributions(x *Data, soft []float64) []float64 {
	if soft == nil {
		return nil
	}
	s, k := x.sample, x.sample.Classes()
	all := slices.Repeat(x.prior.Shares, s.Rows.Rows())
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

// harden makes the soft labels of the unlabeled rows the classes predicted, where there are any.
func (f *fitted) harden() {
	if f.Distributions == nil {
		return
	}
	k := f.Model.Classes
	for _, i := range f.data.sample.Unlabeled {
		row := f.Distributions[int(i)*k : (int(i)+1)*k]
		clear(row)
		row[f.Transduction[i]] = 1
	}
}

type Stage struct {
	Name   string  `json:"stage"` // "class_prior", a method, "supervised", "mixture" or "calibrate"
	Models int     `json:"n_models"`
	Passes float64 `json:"n_passes"` // of all these models over the non-zeros of all rows
}

type record struct{ stages []Stage }

// add counts a model of a stage and the non-zeros that it visited; pass is the number of non-zeros of a pass.
func (r *record) add(name string, visited int64, pass int) {
	if last := len(r.stages) - 1; last < 0 || r.stages[last].Name != name {
		r.stages = append(r.stages, Stage{Name: name})
	}
	stage := &r.stages[len(r.stages)-1]
	stage.Models++
	stage.Passes += float64(visited) / float64(max(1, pass))
}

// checkEnd warns of a fit that has not converged, and corrects the path's reason.
func checkEnd(r *method.Run, solution *method.Solution) {
	p, maxIter, tol := r.Path, float64(r.Options.MaxIter), r.Options.Tol
	switch {
	case p.Reason == path.MaxIter && !r.Objective.Sample.Transductive():
		p.Trace.Warn(warning.MaxIterDistance, maxIter, solution.Gap, tol)
		return
	case p.Reason == path.MaxIter:
		p.Trace.Warn(warning.MaxIter, maxIter)
	case p.Reason == path.Unsettled:
		p.Trace.Warn(warning.Unsettled, path.SettleRounds)
	}
	if solution.Converged {
		return
	}
	p.Trace.Warn(solution.Unconverged, solution.Gap, tol)
	if !p.Reason.Early() {
		p.Reason = path.NotConverged
	}
}

// checkShares warns of thresholds that cannot move, and of predicted classes. Methods of probabilities have their own.
func checkShares(f *fitted) {
	x := f.data
	if !x.sample.Transductive() || f.reason() == path.OneClass || f.spec.UsesProbabilities {
		return
	}
	if !x.averages() {
		checkPredicted(f)
	}
	if balance := x.options.Balance; !x.options.FitIntercept && (balance == "share" || balance == "mean") {
		f.warn(warning.Balance.Of())
	}
}

// checkPredicted warns of classes predicted for less than half of their share of the unlabeled rows. A committee
// predicts others than the estimated shares, and does not lose by it: docs/notes/committee.md.
func checkPredicted(f *fitted) {
	s, prior := f.data.sample, f.data.prior.Shares
	shares, rows := make([]float64, len(prior)), float64(s.All.Unlabeled)
	for k, i := range s.Unlabeled {
		shares[f.Transduction[i]] += s.UnlabeledWeight[k]
	}
	s.Job.Reduce(shares)
	for class, share := range shares {
		switch {
		case share >= prior[class]/2:
		case prior[class]*rows < 1:
			f.warn(warning.SmallShare.Of(float64(class), prior[class], rows))
		default:
			f.warn(warning.Collapse.Of(float64(class), share, prior[class]))
		}
	}
}

func (r *Result) warn(w warning.Warning) { r.Model.Warnings = append(r.Model.Warnings, w) }

// renumbered are rows by their numbers in the whole, without those of other machines.
func renumbered(part sample.Selection, source []int32) (out sample.Selection) {
	for k, i := range part.Rows {
		if source[i] >= 0 {
			out.Add(source[i], part.Class[k], part.Weights[k])
		}
	}
	return out
}

// agreement is the share of the unlabeled rows that keep the class of the supervised start; NaN where there is none.
func agreement(s *sample.Sample, began sample.Selection, classes []int32) float64 {
	if s.All.Unlabeled > 0 && !s.Transductive() && !s.Constant() {
		return 1
	}
	sums := []float64{0, vector.Sum(began.Weights)} // weight of the rows with the same class, of all
	for k, i := range began.Rows {
		if began.Class[k] == classes[i] {
			sums[0] += began.Weights[k]
		}
	}
	s.Job.Reduce(sums)
	return sums[0] / sums[1]
}
