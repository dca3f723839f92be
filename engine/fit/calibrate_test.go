package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/probability"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
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

// The five fits are made again, on rows in the caller's order of features, and the weights by their definition.
func TestTemperatureIsThatOfRowsHeldOut(t *testing.T) {
	for name, o := range calibrated() {
		for classes := 2; classes <= 3; classes++ {
			data, shares := topics(classes, 60)
			data = resized(t, data, func(row, _ int) float64 { // the unit of length is that of all rows of a fit
				if data.Labels[row] < 0 {
					return 2
				}
				return 1
			})
			o.ClassPrior.Shares = shares
			result := mustFit(t, data, nil, o)
			s, err := sample.New(sample.Problem{Rows: data.Rows, Labels: data.Labels}, o.OfSample(), work.NewJob(1, nil))
			if err != nil {
				t.Fatal(err)
			}
			rows := heldOutRows(t, data, o, s, crossfit.NewSplit(s, s.Job, calibratedRows))
			usual := map[string]float64{"maxent": 1, "squared_hinge": 0.2}[string(o.Loss)]
			want := probability.Temperature(work.NewJob(1, nil), rows, usual)
			got := result.Calibration
			if math.Abs(got.Temperature/want-1) > 1e-4 { // solves end within a tolerance of 1e-3
				t.Errorf("%s, %d classes: temperature %v, recomputed %v", name, classes, got.Temperature, want)
			}
			if k := float64(classes); math.Abs(got.Smoothing-0.2*k/(60+0.2*k)) > 1e-12 || got.HeldOut != 60 {
				t.Errorf("%s, %d classes: smoothing %v, %d rows held out", name, classes, got.Smoothing, got.HeldOut)
			}
		}
	}
}

func heldOutRows(t *testing.T, data planted.Data, o method.Options, s *sample.Sample, split crossfit.Split) *crossfit.Scores {
	o.Calibrate, o.Tol, o.UnlabeledWeight = false, 1e-3, s.Options.UnlabeledWeight
	shares := o.ClassPrior.Shares
	out := &crossfit.Scores{Classes: len(shares)}
	counts := make([]float64, len(shares))
	for f := range split.Folds {
		var rows []int32
		var labels []int32
		var held [][]float64
		for k, i := range s.Labeled {
			if split.Labeled[k] != f {
				rows, labels = append(rows, i), append(labels, data.Labels[i])
				continue
			}
			held, out.Class = append(held, data.Dense[i]), append(out.Class, data.Labels[i])
			counts[data.Labels[i]]++
		}
		for k, place := range split.Unlabeled {
			if split.Chosen[k] == f {
				rows, labels = append(rows, s.Unlabeled[place]), append(labels, -1)
			}
		}
		p := sample.Problem{Rows: data.Rows.Selected(work.NewPool(1), rows), Labels: labels}
		part, err := sample.New(p, o.OfSample(), work.NewJob(1, nil))
		if err != nil {
			t.Fatal(err)
		}
		without, err := newSetting(part, sample.Problem{}, o, &record{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run(without, part.Job, start{}, 0) // these fits are not compared with switching
		if err != nil {
			t.Fatal(err)
		}
		out.Held.Scores = append(out.Held.Scores, linearScores(result.Result, held)...)
	}
	for _, y := range out.Class {
		out.Held.Weight = append(out.Held.Weight, shares[y]*float64(len(out.Class))/counts[y])
	}
	return out
}

// Of unlabeled rows with their largest probability in a tenth, about that share is right, on average over three draws.
func TestProbabilitiesAreCalibrated(t *testing.T) {
	for name, o := range calibrated() {
		for classes := 2; classes <= 3; classes++ {
			const draws = 3
			mean := 0.0
			for seed := range uint64(draws) {
				data, shares := topicsOf(classes, 120, 31+seed)
				o.ClassPrior.Shares = shares
				result := mustFit(t, data, nil, o)
				mean += calibrationError(data, result, result.Calibration.Temperature, result.Calibration.Smoothing) / draws
			}
			if mean > 0.08 {
				t.Errorf("%s, %d classes: calibration error %.3f", name, classes, mean)
			}
		}
	}
}

// calibrationError is the expected calibration error of the unlabeled rows, in ten bins.
func calibrationError(data planted.Data, result *Result, temperature, smoothing float64) float64 {
	k := result.Model.Classes
	scores := linearScores(result, data.Dense)
	var sure, right [11]float64
	n := 0.0
	for i, y := range data.Truth {
		row := scores[i*k : (i+1)*k]
		best, sum := vector.Largest(row), 0.0
		for _, s := range row {
			sum += math.Exp((s - row[best]) / temperature)
		}
		if data.Labels[i] >= 0 {
			continue
		}
		p := (1-smoothing)/sum + smoothing/float64(k)
		n++
		sure[int(10*p)] += p
		if best == int(y) {
			right[int(10*p)]++
		}
	}
	total := 0.0
	for b := range sure {
		total += math.Abs(sure[b]-right[b]) / n
	}
	return total
}

func TestCalibrationIsTheSameOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 3)
	data, _ := topics(3, 60)
	o := method.Defaults()
	o.Calibrate = true
	want := *mustFit(t, data, nil, o).Calibration
	for o.Threads = 2; o.Threads <= 3; o.Threads++ {
		if got := *mustFit(t, data, nil, o).Calibration; got != want {
			t.Errorf("%+v on %d threads, %+v on one", got, o.Threads, want)
		}
	}
}

func TestWhatIsNotCalibrated(t *testing.T) {
	for labeled, want := range map[int]string{
		2:  "calibration needs 20 distinct labeled rows from classes with at least two, but there are 0. ",
		19: "but there are 19. ",
		20: "",
	} {
		data, _ := topics(2, labeled)
		o := method.Defaults()
		o.Calibrate = true
		result := mustFit(t, data, nil, o)
		warnings := fmt.Sprint(result.Model.Warnings)
		if (result.Calibration == nil) != (want != "") || !strings.Contains(warnings, want) {
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
	stopped, err := Fit(sample.Problem{Rows: data.Rows, Labels: data.Labels}, o, &work.Progress{Cancel: work.Stop})
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
