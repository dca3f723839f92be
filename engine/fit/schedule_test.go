package fit

import (
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
)

// What the weight of the unlabeled rows is raised for: begun with the whole weight, fits end at higher objectives, or
// with more wrong classes. The schedule of annealing is held by TestLabelsAreNearTheBestOfAllLabelings.
func TestRaisedWeightsEndLower(t *testing.T) {
	for _, c := range []struct {
		by                method.Method
		loss              method.Loss
		balance           string
		objective, errors float64 // raised, in parts of those at once, at most
	}{
		{"switching", "squared_hinge", "mean", 0.93, 0.9},
		{"pair_switching", "squared_hinge", "labels", 0.8, 0.85},
		{"gradient", "squared_hinge", "auto", 10, 0.8}, // it ends higher, with the right classes
		{"entropy", "maxent", "auto", 0.85, 0.6},
	} {
		objective, errors := [2]float64{}, [2]float64{}
		for seed := range uint64(6) {
			data := planted.Classes(200, 120, 8, []float64{0.4, 0.3, 0.2, 0.1}, seed)
			o := plainOptions()
			o.Method, o.Loss, o.Balance, o.Alpha, o.ClassPrior.Shares = c.by, c.loss, c.balance, 1e-4, data.Shares()
			for k, atOnce := range []bool{false, true} {
				x := settingOf(t, data, o)
				r := x.newRun(x.sample.Job, x.named, Member{})
				r.AtOnce = atOnce
				found := x.named.Fit(r)
				objective[k] += r.Path.Trace.Objective(0)
				errors[k] += float64(disagreement(transduced(x.sample, found.Score(r.Objective)), data.Truth))
			}
		}
		part, wrong := objective[0]/objective[1], errors[0]/errors[1]
		t.Logf("%s: objective %.3f, errors %.3f of those at once", c.by, part, wrong)
		if part > c.objective || wrong > c.errors {
			t.Errorf("%s: objective %.3f, errors %.3f of those at once", c.by, part, wrong)
		}
	}
}

// Annealing of the maxent loss cools slowly where labels harden: it ends below switching, with fewer wrong classes.
func TestSlowCoolingEndsBelowSwitching(t *testing.T) {
	objective, errors := [2]float64{}, [2]float64{}
	for seed := range uint64(6) {
		data := planted.Classes(200, 120, 8, []float64{0.4, 0.3, 0.2, 0.1}, seed)
		for k, by := range []method.Method{"annealing", "switching"} {
			o := plainOptions()
			o.Method, o.Loss, o.Balance, o.ClassPrior.Shares = by, "maxent", "labels", data.Shares()
			found := mustFit(t, data, nil, o)
			objective[k] += found.Model.Objective
			errors[k] += float64(mistakes(found, data))
		}
	}
	if objective[0] > 0.9*objective[1] || errors[0] > 0.6*errors[1] {
		t.Errorf("objectives %v, errors %v", objective, errors)
	}
}
