package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/work"
)

// withCosts is a problem with prior costs [n, classes] of the rows without a label.
func withCosts(data planted.Data, classes int, costs []float64) sample.Problem {
	return sample.Problem{Rows: data.Rows, Labels: data.Labels, Classes: classes,
		Weak: planted.Weak(classes, costs, data.Labels)}
}

func mustFitProblem(t *testing.T, p sample.Problem, o method.Options) *Result {
	t.Helper()
	result, err := Fit(p, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// sets gives unlabeled rows the set of the true class and some others, as prior costs.
func sets(data planted.Data, classes, others int, seed uint64) []float64 {
	random, costs := rand.New(rand.NewPCG(seed, 5)), make([]float64, len(data.Truth)*classes)
	for i, truth := range data.Truth {
		for k, y := range random.Perm(classes) {
			if int32(y) != truth && k >= others && data.Labels[i] < 0 {
				costs[i*classes+y] = math.Inf(1)
			}
		}
	}
	return costs
}

// methodsWithPrior are the methods of many classes that take prior costs.
func methodsWithPrior() map[string]method.Options {
	out := classSettings()
	for _, by := range []string{"posterior", "entropy", "expectation"} {
		o := plainOptions()
		o.Method, o.Loss, o.ClassPrior.Shares = method.Method(by), "maxent", fiveShares
		out[by] = o
	}
	o := plainOptions()
	o.Method, o.Loss, o.MaxSwitches, o.ClassPrior.Shares = "switching", "squared_hinge", 50, fiveShares
	out["switching, a limit on switches"] = o
	o.Method, o.MaxSwitches = "gradient", 0
	out["gradient"] = o
	return out
}

// Rows that can have one class are labeled rows, and rows with equal costs are unlabeled ones, bit for bit.
func TestPriorCostsEndAtLabelsAndAtNothing(t *testing.T) {
	for classes, data := range map[int]planted.Data{2: planted.Topics(200, 24, 40, 0.4, 1), 5: fiveClasses(200, 3)} {
		hidden := data
		hidden.Labels = slices.Repeat([]int32{-1}, len(data.Labels))
		hidden.Labels[0], hidden.Labels[1] = data.Labels[0], data.Labels[1]
		costs := slices.Repeat([]float64{2.5}, len(data.Labels)*classes)
		for i, label := range data.Labels {
			for y := range classes {
				if label >= 0 && int32(y) != label {
					costs[i*classes+y] = math.Inf(1)
				}
			}
		}
		for name, o := range methodsWithPrior() {
			o.ClassPrior.Shares = fiveShares
			if classes == 2 {
				o.ClassPrior.Shares = []float64{0.6, 0.4}
			}
			want, got := mustFit(t, data, nil, o), mustFitProblem(t, withCosts(hidden, classes, costs), o)
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s, %d classes: another result than with labels and markers", name, classes)
			}
		}
	}
}

// Rows get classes of their sets only; a class that no row can have has the share 0. Calibration leaves it so.
func TestRowsGetClassesOfTheirSets(t *testing.T) {
	data := planted.Classes(200, 250, 40, fiveShares, 3)
	last := make([]float64, 5*200) // no unlabeled row can have the last class
	for i, label := range data.Labels {
		if label < 0 {
			last[5*i+4] = math.Inf(1)
		}
	}
	for name, o := range methodsWithPrior() {
		o.ClassPrior = sample.ClassPrior{Rule: "labels"}
		for kind, costs := range map[string][]float64{"sets": sets(data, 5, 2, 1), "the last": last} {
			o.Calibrate = name == "annealing squared_hinge auto"
			result := mustFitProblem(t, withCosts(data, 5, costs), o)
			if share := result.Model.ClassPrior[4]; kind == "the last" && share != 0 {
				t.Errorf("%s: the share is %v", name, share)
			}
			if o.Calibrate && result.Calibration == nil {
				t.Errorf("%s, %s: no calibration: %v", name, kind, result.Model.Warnings)
			}
			for i, y := range result.Transduction {
				if math.IsInf(costs[5*i+int(y)], 1) {
					t.Fatalf("%s, %s: row %d has class %d, which is forbidden", name, kind, i, y)
				}
			}
			for k, q := range result.Distributions {
				if q != 0 && math.IsInf(costs[k], 1) && !o.Calibrate {
					t.Fatalf("%s, %s: row %d has class %d with probability %v", name, kind, k/5, k%5, q)
				}
			}
		}
	}
}

// Probabilities of two classes that are right four times of five lower the error where labels are few.
func TestProbabilitiesOfTwoClassesLowerTheError(t *testing.T) {
	for _, by := range []string{"annealing", "switching", "pair_switching", "gradient", "auto"} {
		wrong, before, misled, overruled := 0, 0, 0, 0
		for seed := range uint64(3) {
			data, random := planted.Topics(800, 1000, 2, 0.4, seed), rand.New(rand.NewPCG(seed, 1))
			costs, said := make([]float64, 2*len(data.Truth)), slices.Clone(data.Truth)
			for i, truth := range data.Truth {
				if i%2 == 0 && data.Labels[i] < 0 {
					if random.IntN(5) == 0 {
						said[i], misled = 1-truth, misled+1
					}
					costs[2*i+int(said[i])], costs[2*i+1-int(said[i])] = -math.Log(0.8), -math.Log(0.2)
				}
			}
			o := plainOptions()
			o.Method, o.ClassPrior.Shares = method.Method(by), []float64{0.6, 0.4}
			without, result := mustFit(t, data, nil, o), mustFitProblem(t, withCosts(data, 2, costs), o)
			for i, truth := range data.Truth {
				if result.Transduction[i] != truth {
					wrong++
				} else if said[i] != truth {
					overruled++
				}
				if without.Transduction[i] != truth {
					before++
				}
			}
		}
		t.Logf("%s: %d of 2400 wrong, without probabilities %d; %d of %d overruled", by, wrong, before, overruled, misled)
		if wrong >= before {
			t.Errorf("%s: %d of 2400 wrong, without probabilities %d", by, wrong, before)
		}
	}
}

// A start by scores that say nothing is one by the prior costs.
func TestAStartByScoresKeepsToPriorCosts(t *testing.T) {
	data := fiveClasses(600, 3)
	costs, o := make([]float64, 5*600), plainOptions()
	o.ClassPrior.Shares = make([]float64, 5)
	for i, y := range data.Truth {
		if data.Labels[i] < 0 {
			o.ClassPrior.Shares[y] += 1.0 / 590
			costs[5*i+int(y+1)%5], costs[5*i+int(y+2)%5], costs[5*i+int(y+3)%5] = math.Inf(1), 1, 2
			costs[5*i+int(y+4)%5] = 1
		}
	}
	x, err := open(withCosts(data, 5, costs), o, work.NewJob(1, nil))
	if err == nil {
		x, err = x.withShares()
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := x.Train(Member{method: method.AtScores, scores: make([]float64, 5*590)})
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for _, i := range x.sample.Unlabeled {
		if found.Transduction[i] != data.Truth[i] {
			wrong++
		}
	}
	if wrong > 20 {
		t.Errorf("%d of 590 rows have another class than the cheapest one", wrong)
	}
}

// A class of two that prior costs alone name needs a label or a share, as one of many does.
func TestAClassThatPriorCostsAloneNameNeedsAShare(t *testing.T) {
	data := planted.Topics(300, 24, 20, 0.5, 1)
	o := method.Defaults()
	o.ClassPrior = sample.ClassPrior{Shares: []float64{0.5, 0.5}}
	least := disagreement(mustFit(t, data, nil, o).Transduction, data.Truth)
	costs := make([]float64, 2*300)
	for i, y := range data.Labels {
		if costs[2*i] = 3 * float64(data.Truth[i]); y == 1 {
			data.Labels[i] = -1
		}
	}
	p := withCosts(data, 2, costs)
	_, err := Fit(p, method.Defaults(), nil, nil)
	if wantKinds(t, err, fault.BadData); !strings.Contains(err.Error(), "class 1 has no labeled row") {
		t.Errorf("got %v", err)
	}
	if wrong := disagreement(mustFitProblem(t, p, o).Transduction, data.Truth); wrong > least {
		t.Errorf("%d rows wrong, %d with labels of both classes", wrong, least)
	}
}

// Copies of weakly labeled rows, here of nearly certain ones in the first fit, are no labels for thresholds and views.
func TestCopiesOfWeaklyLabeledRowsAreNoLabels(t *testing.T) {
	data, labels, costs := fiveClasses(300, 3), 0.0, make([]float64, 5*300)
	for i, label := range data.Labels {
		for y := range int32(5) {
			if label < 0 && y != data.Truth[i] {
				costs[5*i+int(y)] = 5 // the class has the probability .97
			}
		}
		labels += float64(min(1, label+1))
	}
	x := dataOf(t, withCosts(data, 5, costs), method.Defaults())
	if got := x.labels; got != labels/5 || float64(x.sample.All.LabeledUnits) < 2*labels {
		t.Errorf("%v labels of a class, should be %v; %v rows are labeled", got, labels/5, x.sample.All.LabeledUnits)
	}
}

// The forecast of a second fit has its copies of the rows.
func TestForecastOfRowsWithPriorCosts(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	data, forecast := fiveClasses(300, 3), 0.0
	p := withCosts(data, 5, sets(data, 5, 2, 1))
	const copies = "a copy of some rows"
	memory.Need = func(bytes float64, purpose, _ string) error {
		if purpose == copies {
			forecast = max(forecast, bytes)
		}
		return nil
	}
	mustFitProblem(t, p, plainOptions())
	if least := 12 * float64(p.Rows.NonZeros()); forecast <= least || forecast > 2*least {
		t.Errorf("%v bytes in the forecast, at least %v are taken", forecast, least)
	}
	memory.Need = func(_ float64, purpose, _ string) error {
		if purpose == copies {
			return fault.Memory("no room for %s", purpose)
		}
		return nil
	}
	if _, err := Fit(p, plainOptions(), nil, nil); err == nil || !strings.Contains(err.Error(), copies) {
		t.Errorf("got %v", err)
	}
}

// Of two classes with a labeled row each, ten rows are nearly certain of one and two of the other: as many count of
// both. The scores say nothing, or the contrary, which these rows overrule.
func TestOfEachClassAsManyRowsCount(t *testing.T) {
	const n = 14
	values := make([]float64, n)
	p, costs := sample.Problem{Labels: make([]int32, n)}, make([]float64, 2*n)
	for i := range n {
		values[i] = float64(1 + i)
		switch {
		case i < 2:
			p.Labels[i] = int32(i)
		case i < 12:
			p.Labels[i], costs[2*i+1] = -1, 20
		default:
			p.Labels[i], costs[2*i] = -1, 20
		}
	}
	dense, err := rows.NewDense(n, 1, 1, values)
	if err != nil {
		t.Fatal(err)
	}
	p.Rows, p.Classes, p.Weak = dense, 2, planted.Weak(2, costs, p.Labels)
	s, err := sample.New(p, sample.Options{UnlabeledWeight: 1}, work.NewJob(1, nil))
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, 2*n)
	scores[2*2+1] = 1
	for name, more := range map[string]sample.Selection{"certain": even(certain(s), s),
		"informative": even(informative(s, decisions{scores, s.Classes()}, 0.2), s)} {
		sums := [2]float64{}
		for k, y := range more.Class {
			sums[y] += more.Weights[k]
			if want := costs[2*more.Rows[k]] > 0; want != (y == 1) {
				t.Errorf("%s: row %d has class %d", name, more.Rows[k], y)
			}
		}
		if len(more.Rows) != 12 || math.Abs(sums[0]-2) > 1e-6 || math.Abs(sums[1]-2) > 1e-6 {
			t.Errorf("%s: %d rows of weights %v, want 12 of 2 and 2", name, len(more.Rows), sums)
		}
	}
}

// Votes on as many rows of each class hide that some classes are rare: without a label the shares move to those that
// the mixture of all rows and a fit of a third of them predict, unless those of the votes are asked for.
func TestFitsWithoutALabelFindSharesThatVotesHide(t *testing.T) {
	for seed := range uint64(1) {
		shares, voted := []float64{0.6, 0.3, 0.1}, make([]int, 3)
		data := planted.Classes(900, 150, 0, shares, seed)
		costs := make([]float64, 3*900)
		for i, y := range data.Truth {
			if voted[y]++; voted[y] > 40 {
				continue
			}
			if voted[y]%8 == 0 { // a wrong vote
				y = (y + 1) % 3
			}
			for k := range 3 {
				if int32(k) != y {
					costs[3*i+k] = 2
				}
			}
		}
		fit := func(rule string) (result *Result, distance float64, views []string) {
			o := method.Defaults()
			o.ClassPrior.Rule = rule
			result = mustFitProblem(t, withCosts(data, 3, costs), o)
			for y, share := range shares {
				distance += math.Abs(result.Model.ClassPrior[y]-share) / 2
			}
			for _, stage := range result.Trained {
				if stage.Name == "supervised" || stage.Name == "mixture" {
					views = append(views, stage.Name)
				}
			}
			return result, distance, views
		}
		moved, near, views := fit("auto")
		kept, far, none := fit("labels")
		if near > far/2 || far < 0.15 || !slices.Equal(views, []string{"mixture"}) || none != nil {
			t.Errorf("seed %d: shares are off by %v after %v, before by %v after %v", seed, near, views, far, none)
		}
		wrong, before := disagreement(moved.Transduction, data.Truth), disagreement(kept.Transduction, data.Truth)
		if 4*wrong > 3*before {
			t.Errorf("seed %d: %d rows wrong, %d with the shares of the votes", seed, wrong, before)
		}
	}
}

// Each fit estimates the shares, by eleven models. With calibration both make 43 models, and one for each time that the
// shares move.
func TestModelsOfBothFitsAreCounted(t *testing.T) {
	data, o := fiveClasses(300, 3), method.Defaults()
	o.Calibrate = true
	models := map[string]int{}
	for _, stage := range mustFitProblem(t, withCosts(data, 5, sets(data, 5, 2, 1)), o).Trained {
		models[stage.Name] += stage.Models
	}
	if models["class_prior"] != 22 || models["supervised"] != 2 || models["mixture"] != 2 || models["calibrate"] != 15 {
		t.Errorf("models %v", models)
	}
}

// Rows whose class is nearly certain count where class shares are found, as labeled rows do.
func TestNearlyCertainRowsCountForTheShares(t *testing.T) {
	near, far := 0.0, 0.0
	for seed := range uint64(5) {
		data, truth, costs := fiveClasses(600, seed), make([]float64, 5), make([]float64, 5*600)
		for i, y := range data.Truth {
			for k := range int32(5) {
				if data.Labels[i] < 0 && i < 40 && k != y {
					costs[5*i+int(k)] = -math.Log(0.005 / 0.98)
				}
			}
			truth[y] += 1. / 600
		}
		o := method.Defaults()
		o.Method = "annealing"
		far += shares.Distance(mustFit(t, data, nil, o).Model.ClassPrior, truth) / 5
		near += shares.Distance(mustFitProblem(t, withCosts(data, 5, costs), o).Model.ClassPrior, truth) / 5
	}
	if near >= far/2 {
		t.Errorf("shares are off by %.3f, without these rows by %.3f", near, far)
	}
}

// Steps of the second fit follow those of the first, in fits of a part of the rows and after a comparison, too. Where
// of no row enough is known, as of rows with probabilities .4 and .6, the second fit would be the first.
func TestStepsOfTwoFitsAreCountedOn(t *testing.T) {
	for _, cost := range []float64{2, math.Log(0.6 / 0.4)} {
		data, o, progress := planted.Topics(4000, 250, 20, 0.35, 1), method.Defaults(), &work.Progress{}
		costs := make([]float64, 2*4000)
		for i := range 50 {
			costs[2*i] = cost
		}
		p := withCosts(data, 2, costs)
		first, err := learn(dataOf(t, p, o))
		if err != nil {
			t.Fatal(err)
		}
		result, err := Fit(p, o, progress, nil)
		want := int64(first.Model.Iterations)
		if cost == 2 {
			want += int64(result.Model.Iterations)
		}
		if err != nil || progress.Step != want {
			t.Errorf("%v, step %d, should be %d", err, progress.Step, want)
		}
	}
}

// Costs that differ by a rounding say nothing: rows keep the weight of unlabeled ones. Nor do others where this is 0.
func TestCostsThatHardlyDifferHaveNoWeight(t *testing.T) {
	data, rounding := fiveClasses(300, 3), make([]float64, 5*300)
	for i := range data.Labels {
		rounding[5*i] = 1e-15
	}
	for weight, costs := range [][]float64{sets(data, 5, 2, 1), rounding} {
		o := plainOptions()
		o.ClassPrior.Shares, o.UnlabeledWeight = fiveShares, float64(weight)
		got, want := mustFitProblem(t, withCosts(data, 5, costs), o), mustFit(t, data, nil, o)
		if a, b := got.Model.Objective, want.Model.Objective; math.Abs(a-b) > 1e-4*b {
			t.Errorf("objective %v, without costs %v", a, b)
		}
		if weight == 0 && !slices.Equal(want.Model.Coef, got.Model.Coef) {
			t.Error("another model than without costs")
		}
	}
}

// Shares that sets contradict are refused by names and numbers; those that are found give way. So it is with weights
// that are no numbers of copies.
func TestSharesThatSetsContradictAreRefused(t *testing.T) {
	data, weights := fiveClasses(110, 3), make([]float64, 110)
	few, rare, most := make([]float64, 5*110), make([]float64, 5*110), make([]float64, 5*110)
	confined, all := 0.0, 0.0
	for i, label := range data.Labels { // 60 rows have two classes, 10 the last one, or 80 have two
		if weights[i] = 1 + 0.01*float64(i); label >= 0 {
			continue
		}
		for y := range 5 {
			if y >= 2 && i < 70 {
				few[5*i+y] = math.Inf(1)
			}
			if y == 4 && i >= 20 {
				rare[5*i+y] = math.Inf(1)
			}
			if y >= 2 && i < 90 {
				most[5*i+y] = math.Inf(1)
			}
		}
		if all += weights[i]; i < 90 {
			confined += weights[i]
		}
	}
	share, but := confined/all, ", but some rows without a label cannot have some classes: a share of "
	third := (1 - share) / 3
	near := []float64{share / 2, share/2 - 0.003, third, third, third + 0.003} // by less than a row
	for _, c := range []struct {
		costs, weights, shares []float64
		says                   string
	}{
		{few, nil, []float64{0.4, 0.1, 0.2, 0.2, 0.1}, "class_prior gives class 0 a share of 0.4" + but + "0.48 is possible"},
		{few, nil, []float64{0.3, 0.3, 0.2, 0.1, 0.1}, ""},
		{rare, nil, []float64{0.3, 0.3, 0.1, 0.1, 0.2}, "class_prior gives class 4 a share of 0.2" + but + "0.1 is possible"},
		{few, nil, []float64{0.3, 0.3, 0.1, 0.1, 0.1, 0.1}, "class_prior has 6 shares, but there are 5 classes"},
		{rare, nil, nil, ""}, {most, weights, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, "is possible"}, {most, weights, near, ""},
		{most, weights, nil, ""},
		{append(slices.Repeat([]float64{0}, 659), 1), nil, nil, "class 5 has no labeled row"},
	} {
		o, p := plainOptions(), withCosts(data, len(c.costs)/110, c.costs)
		if p.Weights = c.weights; c.shares != nil {
			o.ClassPrior = sample.ClassPrior{Shares: c.shares}
		}
		result, err := Fit(p, o, nil, nil)
		if c.says != "" || err != nil {
			if wantKinds(t, err, fault.BadData, fault.BadArgument); c.says == "" || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			continue
		}
		found := result.Model.ClassPrior
		if c.shares == nil && c.weights == nil && found[4] > 0.1 ||
			c.shares == nil && c.weights != nil && math.Abs(found[0]+found[1]-share) > 1e-6 ||
			c.shares != nil && c.weights == nil && !slices.Equal(found, c.shares) {
			t.Errorf("shares %v, given %v", found, c.shares)
		}
	}
}
