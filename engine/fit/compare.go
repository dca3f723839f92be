package fit

import (
	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// compare replaces a result of method auto by that of another start, or, outside a committee, of another method, where
// that is better (docs/notes/second-start.md).
func compare(current *fitted, m Member) {
	d := current.data
	if d.named.Compares == "" || d.start != nil || d.options.Loss.Spec().Free || !current.reason().Natural() {
		return
	}
	if replaced := d.mixes() && replacedBy(current, m.tol, mixed); !replaced && m.begin.model == nil && !d.averages() {
		replacedBy(current, m.tol, settled)
	}
}

// settled is the fit by switching, with which method auto compares annealing.
//
//	Problem  that of the fit, by both methods, each with the balance that suits it if none is given. Objectives are those
//	         before the thresholds move, which changes them by more than their difference
//	Source   ours. Soft labels can lead away from a solution nearby: the labels of the supervised solution at the class
//	         shares, settled. Where λ' is at most method.MaxOverAlpha α switching settles these at once, otherwise it
//	         makes its whole run; not for the maxent loss (docs/notes/second-start.md)
//	Stops    before the exact solve where the labels will not end below muchBetter times the objective of annealing
//	Cost     at the default alpha 0.08 to 0.15 of the passes of annealing, at most 0.6
func settled(current *fitted, tol float64) (*fitted, error) {
	second := *current.data
	second.named, second.options.MaxSwitches = method.Find(second.named.Compares), 0
	return second.Train(Member{method: second.named.Name, tol: tol, bound: current.bound()})
}

// replacedBy replaces the result by that of another fit where that is better, and reports whether it is.
func replacedBy(current *fitted, tol float64, fit func(*fitted, float64) (*fitted, error)) (improves bool) {
	job, switched := current.data.sample.Job, 0
	better, err := work.Try(job, func() (*fitted, error) { return fit(current, tol) })
	improves = err == nil && better != nil && better.reason().Natural() && better.trace.Objective(0) < current.bound()
	if improves {
		switched = job.Count(belief.Differences(current.Transduction, better.Transduction))
		model := current.Model
		current.spec, current.Returned, current.Transduction = better.spec, better.Returned, better.Transduction
		model.Coef, model.Intercept = better.Model.Coef, better.Model.Intercept
		model.Objective, model.Warnings = better.Model.Objective, better.Model.Warnings
		if current.reason() == path.NotConverged || better.reason() == path.NotConverged {
			model.Termination = better.Model.Termination
		}
		current.harden()
	} else {
		better = current
	}
	current.Model.Iterations++
	current.trace.RecordEnd(better.trace, switched) // the last step of the history
	return improves
}

// muchBetter is the part of the objective below which another fit has to end: less is no sign of better classes.
const muchBetter = 0.99

func (f *fitted) bound() float64 { return muchBetter * f.trace.Objective(0) }

// mixed is the fit that begins at a mixture of labeled and unlabeled rows: the second start of method auto.
//
//	Problem  where most features are noise and labels are few, the supervised solution points the wrong way, and every
//	         path from there too. A mixture uses all rows from the first step on
//	Source   Nigam, McCallum, Thrun & Mitchell 2000 (EM of multinomials, see method/mixture.go); the solution at the
//	         mixture's labels as a start is ours. Measured, with what was rejected, in docs/notes/second-start.md
//	Stops    where the mixture has nearly the labels found, or predicts held-out labels worse than the labeled rows
//	         alone; where the solution at its labels is above promising times the bound, or the first step from there is
//	         not below it
//	Cost     up to eight steps of EM and a solution at fixed labels; then up to the passes of annealing. At most
//	         mixtureRows rows take part, of more rows a part
func mixed(current *fitted, tol float64) (*fitted, error) {
	d, s, bound := current.data, current.data.sample, current.bound()
	if !method.MixesSoon(s) {
		return nil, nil
	}
	mixture, err := d.Train(Member{method: method.Mixture})
	if err != nil {
		return nil, err
	}
	scores := d.decisions(s.Packed(mixture.Model)).of(s.Unlabeled)
	if d.kappa(scores, current.Transduction) > sameStart {
		return nil, nil
	}
	if predicts, err := d.mixturePredicts(); err != nil || !predicts {
		return nil, err
	}
	labeled, err := d.Train(Member{method: method.AtScores, scores: scores, tol: tol})
	if err != nil || labeled.Model.Objective > promising*bound {
		return nil, err
	}
	return d.Train(Member{begin: start{model: labeled.Model}, tol: tol, bound: bound})
}

// kappa is the agreement of scores [Unlabeled, K] with classes: 1 all, 0 as of labels drawn by the shares (Cohen 1960).
func (d *Data) kappa(scores []float64, classes []int32) float64 {
	s, shares := d.sample, d.prior.Shares
	wrong := 0
	for k, i := range s.Unlabeled {
		if vector.Largest(scores[k*len(shares):(k+1)*len(shares)]) != int(classes[i]) {
			wrong++
		}
	}
	return 1 - float64(s.Job.Count(wrong))/float64(s.All.Unlabeled)/(1-vector.Dot(shares, shares))
}

const (
	sameStart = 0.8 // kappa; .95 and .16 where the mixture led to the same and to another end
	promising = 1.1 // ratio of objectives; .97 to 1.06 where the mixture ended lower
)

// mixturePredicts reports whether mixtures predict more held-out labels than linear models of the labeled rows do, by
// the cross-fits from which shares are estimated. A lower objective is no sign of better classes.
func (d *Data) mixturePredicts() (_ bool, err error) {
	evidence := d.prior.Evidence
	if evidence == nil { // the shares are given
		if evidence, _, err = d.evidence("mixture"); err != nil {
			return false, err
		}
	}
	views := evidence.Held.Views
	return len(views) == 2 && evidence.Wrong(views[1]) < evidence.Wrong(views[0]), nil
}

var mixtureRows = 1 << 17 // largest number of rows that start at a mixture; replaced in tests

// mixes reports whether a fit is compared with a start at a mixture: that of the largest part of at most mixtureRows.
func (d *Data) mixes() bool {
	n := d.sample.All.UnlabeledUnits
	return d.sample.All.Labeled > 0 && max(n, d.whole) >= manyUnlabeled && n <= mixtureRows &&
		(d.whole == 0 || d.whole > mixtureRows)
}
