package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// calibrated are options of every kind of fit.
func calibrated() map[string]method.Options {
	out := map[string]method.Options{}
	for _, loss := range []string{"squared_hinge", "maxent"} {
		for _, by := range []string{"annealing", "switching"} {
			o := method.Defaults()
			o.Loss, o.Method, o.Calibrate = method.Loss(loss), method.Method(by), true
			out[loss+" "+by] = o
		}
	}
	o := method.Defaults()
	o.Calibrate, o.UnlabeledWeight = true, 0
	out["supervised"] = o
	return out
}

func topics(classes, labeled int) (planted.Data, []float64) { return topicsOf(classes, labeled, 31) }

func topicsOf(classes, labeled int, seed uint64) (planted.Data, []float64) {
	shares := []float64{0.7, 0.3}
	if classes > 2 {
		shares = []float64{0.5, 0.3, 0.2}
	}
	return planted.Classes(900+labeled, 150, labeled, shares, seed), shares
}

// linearScores are those of a model for dense rows [n, K].
func linearScores(result *Result, rows [][]float64) []float64 {
	m := result.Model
	var out []float64
	for _, row := range rows {
		scores := slices.Clone(m.Intercept)
		for j, v := range row {
			for y := range scores {
				scores[y] += v * m.Coef[j*m.Outputs+y]
			}
		}
		if m.Outputs == 1 {
			out = append(out, 0)
		}
		out = append(out, scores...)
	}
	return out
}

// The five fits are made again, on rows in the caller's order of features, and the temperatures by their definition.
func TestTemperaturesAreThoseOfTheirDefinition(t *testing.T) {
	for name, o := range calibrated() {
		for classes := 2; classes <= 3; classes++ {
			data, shares := topics(classes, 60)
			data = data.Resized(func(int, int) float64 { return 2 }) // the same unit of length for all parts
			o.ClassPrior.Shares = shares
			result := mustFit(t, data, nil, o)
			s, err := sample.New(problemOf(data), o.OfSample(), work.NewJob(1, nil))
			if err != nil {
				t.Fatal(err)
			}
			found := againWithout(t, data, result, o, s, crossfit.NewSplit(s, calibratedRows))
			usual := map[string]float64{"maxent": 1, "auto": 0.2}[string(o.Loss)]
			k, e := float64(classes), 0.2*float64(classes)/(60+0.2*float64(classes))
			right := (found.h*found.right + 6*math.Sqrt(found.h)*found.agreed) / (found.h + 6*math.Sqrt(found.h))
			of := func(scores []float64) float64 {
				rows := crossfit.Scored{Views: [][]float64{scores}, Weight: slices.Repeat([]float64{1}, len(scores)/classes)}
				return temperature(work.NewJob(1, nil), rows, classes, right, usual)
			}
			ofFit, factor := of(found.mine), 1.0
			if o.UnlabeledWeight != 0 {
				factor = math.Pow(of(found.next)/of(found.own), math.Pow(0.2, 0.6))
			}
			got := result.Calibration
			if math.Abs(got.Temperature/(ofFit*factor)-1) > 1e-3 { // solves end within a tolerance of 1e-3
				t.Errorf("%s, %v classes: temperature %v, recomputed %v", name, k, got.Temperature, ofFit*factor)
			}
			if math.Abs(got.Smoothing-e) > 1e-12 || got.HeldOut != 60 {
				t.Errorf("%s, %v classes: smoothing %v, %d rows held out", name, k, got.Smoothing, got.HeldOut)
			}
			p := make([]float64, classes)
			for n, i := range s.Unlabeled {
				probability(p, found.mine[n*classes:(n+1)*classes], ofFit, e)
				for y := range p {
					if got := result.Distributions[int(i)*classes+y]; math.Abs(got-p[y]) > 1e-6 {
						t.Fatalf("%s: row %d has the probability %v of class %d, want %v", name, i, got, y, p[y])
					}
				}
			}
		}
	}
}

// again is what the temperatures are found from.
type again struct {
	h, right, agreed float64
	mine, own, next  []float64 // scores of unlabeled rows by the classifier, and by the fits that have them and have not
}

func againWithout(
	t *testing.T, data planted.Data, result *Result, o method.Options, s *sample.Sample, split crossfit.Split,
) (out again) {
	o.Calibrate, o.Tol, o.UnlabeledWeight = false, 1e-3, s.Options.UnlabeledWeight
	shares, counts, rows := o.ClassPrior.Shares, make([]float64, len(o.ClassPrior.Shares)), float64(len(s.Unlabeled))
	for _, y := range s.Class {
		counts[y]++
	}
	dense := func(list []int32) (out [][]float64) {
		for _, i := range list {
			out = append(out, data.Dense[i])
		}
		return out
	}
	out.mine = linearScores(result, dense(s.Unlabeled))
	squares, k := 0.0, len(shares)
	for f := range split.Folds {
		var list, labels, held, own, next []int32
		for j, i := range s.Labeled {
			if split.Labeled[j] == f {
				held = append(held, i)
			} else {
				list, labels = append(list, i), append(labels, data.Labels[i])
			}
		}
		for j, place := range split.Unlabeled {
			switch split.Chosen[j] {
			case f:
				own = append(own, s.Unlabeled[place])
			case (f + 1) % split.Folds:
				next = append(next, s.Unlabeled[place])
			}
		}
		list, labels = append(list, own...), append(labels, slices.Repeat([]int32{-1}, len(own))...)
		p := sample.Problem{Rows: data.Rows.Selected(work.NewPool(1), list), Labels: labels}
		without := dataOf(t, p, o)
		fit, err := without.Train(Member{}) // these fits are not compared with switching
		if err != nil {
			t.Fatal(err)
		}
		scores, all := linearScores(fit.Result, dense(held)), linearScores(result, dense(next))
		for j, i := range held {
			share := shares[data.Labels[i]] / counts[data.Labels[i]]
			squares += share * share
			if vector.Largest(scores[j*k:(j+1)*k]) == int(data.Labels[i]) {
				out.right += share
			}
		}
		scores = linearScores(fit.Result, dense(next))
		for j := range next {
			if vector.Largest(scores[j*k:(j+1)*k]) == vector.Largest(all[j*k:(j+1)*k]) {
				out.agreed += 1 / rows
			}
		}
		out.next = append(out.next, scores...)
		out.own = append(out.own, linearScores(fit.Result, dense(own))...)
	}
	out.h = 1 / squares
	return out
}

// numbers are 0 ... n-1.
func numbers(n int) (out []int32) {
	for i := range n {
		out = append(out, int32(i))
	}
	return out
}

func TestWarningsOfProbabilities(t *testing.T) {
	for labeled, want := range map[int]string{
		2:   "the probabilities are not calibrated: no class has two different labeled rows. Label more rows",
		4:   "the probabilities are rough: the 4 labeled rows they are calibrated with leave their mean open by ",
		400: "[]",
	} {
		data, _ := topics(2, labeled)
		o := method.Defaults()
		o.Calibrate = true
		result := mustFit(t, data, nil, o)
		warnings := fmt.Sprint(result.Model.Warnings)
		if (result.Calibration == nil) != (labeled == 2) || !strings.Contains(warnings, want) {
			t.Errorf("%d labels: %+v, %s", labeled, result.Calibration, warnings)
		}
		o.Calibrate = false
		if result := mustFit(t, data, nil, o); result.Calibration != nil {
			t.Errorf("%+v was not asked for", result.Calibration)
		}
	}
	data, _ := topics(2, 60)
	o := method.Defaults()
	o.Calibrate = true
	stopped, err := Fit(problemOf(data), o, &work.Progress{Cancel: work.Stop}, nil)
	if err != nil || stopped.Calibration != nil || kinds(stopped.Model.Warnings) != "calibration_failed" {
		t.Errorf("a fit that was stopped: %+v, %v", stopped, err)
	}
	for i, y := range data.Labels {
		data.Labels[i] = min(y, 0)
	}
	if got := mustFit(t, data, nil, o).Calibration; *got != (Calibration{Temperature: 1}) {
		t.Errorf("one class: %+v", got)
	}
}

// Folds of few unlabeled rows have none of their own, and so no soft labels.
func TestCalibrationBesideFewUnlabeledRows(t *testing.T) {
	for rows := 1; rows < 8; rows++ {
		data, o := planted.Topics(12+rows, 40, 12, 0.5, uint64(rows)), method.Defaults()
		o.Calibrate = true
		if result := mustFit(t, data, nil, o); !(result.Calibration.Temperature > 0) {
			t.Errorf("%d rows: %+v", rows, result.Calibration)
		}
	}
}
