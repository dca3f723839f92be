package fit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// plainOptions are the defaults with the shares of the labels and the weight 1, of which nothing has to be found.
func plainOptions() method.Options {
	o := method.Defaults()
	o.ClassPrior.Rule, o.UnlabeledWeight, o.Alpha = "labels", 1, 1e-3
	return o
}

// settings are all combinations of method, loss and balance; under the race detector each method has one balance.
func settings() map[string]method.Options {
	out := map[string]method.Options{}
	for k, by := range []string{"annealing", "switching", "pair_switching"} {
		list := []string{"mean", "share", "labels"}
		if worktest.Raced {
			list = list[k : k+1]
		}
		for _, balance := range list {
			o := plainOptions()
			o.Method, o.Balance = method.Method(by), balance
			out[by+" "+balance] = o
		}
	}
	for _, by := range []method.Method{"annealing", "pair_switching"} {
		hinge := plainOptions()
		hinge.Method, hinge.Loss = by, "hinge"
		out[string(by)+" hinge"] = hinge
	}
	return out
}

// kinds are those of some warnings, with a space between.
func kinds(warnings []warning.Warning) string {
	var names []string
	for _, w := range warnings {
		names = append(names, w.Kind)
	}
	return strings.Join(names, " ")
}

func mustFit(t *testing.T, data planted.Data, weights []float64, o method.Options) *Result {
	t.Helper()
	result, err := Fit(sample.Problem{Rows: data.Rows, Labels: data.Labels, Weights: weights}, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// dataOf is what the models of a fit may see.
func dataOf(t *testing.T, p sample.Problem, o method.Options) *Data {
	t.Helper()
	d, err := open(p, o, work.NewJob(1, nil))
	if err == nil {
		d, err = d.certain()
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// settingOf is dataOf planted data.
func settingOf(t *testing.T, data planted.Data, o method.Options) *Data {
	t.Helper()
	return dataOf(t, sample.Problem{Rows: data.Rows, Labels: data.Labels}, o)
}

// runOf is a run at the supervised solution.
func runOf(t *testing.T, data planted.Data, o method.Options) (*method.Run, *risk.Risk) {
	t.Helper()
	x := settingOf(t, data, o)
	r := x.newRun(x.sample.Job, x.named.First(), Member{})
	k := r.Objective.Risk()
	minimize.NewNewton(k.Dim(), work.NewPool(1)).Minimize(k, r.Path.Limits.Start())
	return r, k
}

// A share that no whole number of rows has leaves a row undecided at any temperature: annealing must end all the same.
func TestAnnealingEndsWhereTheShareIsNoWholeNumberOfRows(t *testing.T) {
	data := planted.Topics(298, 60, 10, 0.45, 13)
	o := plainOptions()
	o.ClassPrior.Shares = []float64{0.55, 0.45} // 129.6 of 288 rows
	if result := mustFit(t, data, nil, o); result.Model.Iterations > 60 || result.Model.Termination == "max_iter" {
		t.Errorf("%d steps, ended by %s", result.Model.Iterations, result.Model.Termination)
	}
}

func column(t *testing.T, result *Result, name string) []float64 {
	t.Helper()
	for _, c := range result.History {
		if c.Name == name {
			return c.Values
		}
	}
	t.Fatalf("the history has no column %q", name)
	return nil
}

// However few the steps, the last one is an exact solve at the full weight, for labels that keep the class prior.
func TestMaxIterIsKeptAndLeavesASensibleModel(t *testing.T) {
	data := planted.Topics(800, 120, 6, 0.3, 10)
	for name, o := range settings() {
		o.ClassPrior.Shares = []float64{0.7, 0.3}
		for _, most := range []int{1, 2, 5} {
			o.MaxIter = most
			result := mustFit(t, data, nil, o)
			m := result.Model
			if m.Iterations > most || m.Termination != "max_iter" {
				t.Errorf("%s: %d steps of %d, ended by %s", name, m.Iterations, most, m.Termination)
			}
			if kinds(m.Warnings) != "max_iter" || m.Warnings[0].Values["max_iter"] != float64(most) {
				t.Errorf("%s: warnings %v", name, m.Warnings)
			}
			level := column(t, result, method.Find(o.Method).Level)
			if len(level) > most || o.Method != "annealing" && level[len(level)-1] != o.UnlabeledWeight {
				t.Errorf("%s: levels %v in %d steps", name, level, most)
			}
			if got, _ := outcome(result, data, o.ClassPrior.Shares); got > 0.29 { // 0.3: all in the larger class
				t.Errorf("%s: error %.3f after %d steps", name, got, most)
			}
		}
	}
}

// What a solve that did not converge says of itself, and that its advice names what helps.
func TestReasonsAndAdviceOfSolvesThatDoNotConverge(t *testing.T) {
	data := planted.Topics(300, 60, 40, 0.3, 7)
	for _, c := range []struct {
		change       func(o *method.Options)
		reason, kind string
	}{
		{func(o *method.Options) { o.UnlabeledWeight, o.MaxIter = 0, 2 }, "max_iter", "max_iter_distance"},
		{func(o *method.Options) { o.UnlabeledWeight, o.Tol = 0, 1e-60 }, "not_converged", "not_converged"},
		{func(o *method.Options) { o.Tol = 1e-60 }, "not_converged", "not_converged"},
	} {
		o := plainOptions()
		c.change(&o)
		m := mustFit(t, data, nil, o).Model
		if m.Termination != c.reason || kinds(m.Warnings) != c.kind {
			t.Errorf("ended by %q, should be %q; warnings %v", m.Termination, c.reason, m.Warnings)
		}
	}
}

func TestNumbersThatAreNotFiniteAreNoResult(t *testing.T) {
	s := settingOf(t, planted.Topics(30, 30, 10, 0.5, 7), plainOptions()).sample
	for _, c := range []struct{ objective, weight, score float64 }{
		{1, 1, math.NaN()}, {math.Inf(1), 1, 0}, {1, math.Inf(-1), 0}, {1, math.NaN(), 0},
	} {
		err := s.CheckFinite(c.objective, []float64{c.weight}, []float64{1, c.score})
		if err == nil || !strings.Contains(err.Error(), "scale your") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	if err := s.CheckFinite(1, []float64{1}, []float64{0}); err != nil {
		t.Error(err)
	}
}

// Bad labels and one pair a round: the rounds at the full weight do not suffice, and max_iter has no part in it.
func TestLabelsThatDoNotSettle(t *testing.T) {
	data := planted.Topics(800, 60, 40, 0.4, 7)
	o := plainOptions()
	o.Method = "switching"
	x := settingOf(t, data, o)
	r, k := runOf(t, data, o)
	r.Costs.Admit(k)
	hard := belief.NewHard(k, r.Costs, labeling.SwitchPair)
	for place, i := range x.sample.Unlabeled {
		hard.Labels[place] = 1 - data.Truth[i]
	}
	newton := minimize.NewNewton(k.Dim(), work.NewPool(1))
	solve := func(limits minimize.Limits) minimize.Outcome { return newton.Minimize(k, limits) }
	p := r.Path
	p.Reason, p.Measure = path.NoSwitch, func() (float64, float64) { return 0, 0 }
	p.Settle(solve, hard, func(o minimize.Outcome) minimize.Outcome { return o }, 5, 1)
	checkEnd(r, &method.Solution{Converged: p.Last.Converged})
	if p.Reason != path.Unsettled || kinds(p.Trace.Warnings) != "unsettled" {
		t.Errorf("ended by %q, warnings %v", p.Reason, p.Trace.Warnings)
	}
	if got := p.Trace.Columns()[2].Values; !slices.Equal(got, []float64{5 + 2*path.SettleRounds}) {
		t.Errorf("%v labels changed, should be 5 and two a round", got)
	}
}

func TestLimitOnSwitches(t *testing.T) {
	data := planted.Topics(800, 120, 6, 0.3, 10)
	o := plainOptions()
	o.Method, o.MaxSwitches = "switching", 3
	switched := column(t, mustFit(t, data, nil, o), "n_switched")
	switched = switched[:len(switched)-1] // the last step is several rounds
	if most := slices.Max(switched); most != 6 {
		t.Errorf("%v labels at a time, should be 6 at most and at least once", most)
	}
}

func TestBadProblems(t *testing.T) {
	data := planted.Topics(20, 30, 4, 0.5, 11)
	with := func(change func(p *sample.Problem, o *method.Options)) error {
		p, o := sample.Problem{Rows: data.Rows, Labels: slices.Clone(data.Labels)}, plainOptions()
		change(&p, &o)
		_, err := Fit(p, o, nil, nil)
		return err
	}
	start := func(features, classes int, intercept float64) func(p *sample.Problem, o *method.Options) {
		m := &model.Linear{Classes: classes, Features: features, Outputs: model.OutputsOf(classes)}
		m.Coef, m.Intercept = make([]float64, features*m.Outputs), slices.Repeat([]float64{intercept}, m.Outputs)
		return func(p *sample.Problem, _ *method.Options) { p.Start = m }
	}
	huge := func(shares []float64) func(p *sample.Problem, o *method.Options) {
		return func(p *sample.Problem, o *method.Options) {
			if p.Rows = planted.Resized(p.Rows, 0, func(_, _ int) float64 { return 0x1p1010 }); shares != nil {
				p.Labels[7], o.ClassPrior.Shares = 2, []float64{0.4, 0.4, 0.2}
			}
		}
	}
	for _, c := range []struct {
		want   string
		change func(p *sample.Problem, o *method.Options)
	}{
		{"no row has a label", func(p *sample.Problem, _ *method.Options) {
			for i := range p.Labels {
				p.Labels[i] = -1
			}
		}},
		{"labels of row 7 is 20", func(p *sample.Problem, _ *method.Options) { p.Labels[7] = 20 }},
		{"labels of row 7 is -900", func(p *sample.Problem, _ *method.Options) { p.Labels[7] = -900 }},
		{"class 2 has no labeled row", func(p *sample.Problem, _ *method.Options) { p.Labels[7] = 3 }},
		{"weights of row 0 is -1", func(p *sample.Problem, _ *method.Options) { p.Weights = make([]float64, 20); p.Weights[0] = -1 }},
		{"weights: the labeled rows of class 0 have a share of 1 of the labeled weight", func(p *sample.Problem, _ *method.Options) {
			p.Weights = slices.Repeat([]float64{1}, 20)
			for i := range 4 { // classes 0, 1, 0, 1
				p.Weights[i] = [2]float64{1e100, 1e-100}[i%2]
			}
		}},
		{"weights: the smallest is 1e-200, the largest 1e+200", func(p *sample.Problem, _ *method.Options) {
			p.Weights = slices.Repeat([]float64{1e-200, 1e200}, 10)
		}},
		{"class_prior of class 0 is 0", func(_ *sample.Problem, o *method.Options) { o.ClassPrior = sample.ClassPrior{Shares: []float64{0, 1}} }},
		{"class_prior has 2 shares, but there are 3 classes", func(p *sample.Problem, o *method.Options) {
			o.ClassPrior.Shares, p.Labels[7] = []float64{0.2, 0.8}, 2
		}},
		{"class_prior has 1 shares, but there are 2 classes", func(_ *sample.Problem, o *method.Options) { o.ClassPrior.Shares = []float64{0.2} }},
		{"balance is \"mean\"", func(_ *sample.Problem, o *method.Options) { o.Balance, o.Loss = "mean", "maxent" }},
		{"hierarchy: class 1", func(_ *sample.Problem, o *method.Options) { o.Hierarchy = []int{1, -1, 0} }},
		{"loss is \"hinge\"", func(_ *sample.Problem, o *method.Options) { o.Method, o.Loss = "gradient", "hinge" }},
		{"start has 29 features, but the rows have 30", start(29, 2, 0)},
		{"start has 3 classes, but the labels and class_prior", start(30, 3, 0)},
		{"start has weights up to 1e+60, which are too large", start(30, 2, 1e60)},
		{"scale your features", huge(nil)}, {"scale your features", huge(fiveShares[:3])},
		{"labels: no row has a label", func(p *sample.Problem, _ *method.Options) { // costs that differ by a rounding
			p.Labels = slices.Repeat([]int32{-1}, 20)
			p.Classes, p.Weak = 2, planted.Weak(2, append([]float64{1e-17}, make([]float64, 39)...), p.Labels)
		}},
	} {
		if err := with(c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v does not say %q", err, c.want)
		}
	}
}

// A large constant feature pushes all scores to one side, and the threshold cannot follow.
func TestCollapseIsSaidAndWhatKeepsTheThreshold(t *testing.T) {
	data := planted.Topics(200, 60, 10, 0.5, 15)
	data.Rows = planted.Sparse(200, 2, func(i int, add func(int, float64)) {
		add(0, 30)
		add(1, float64(2*data.Truth[i]-1)*1e-3)
	})
	data.Labels[1] = -1 // of ten labeled rows four are positive
	for _, c := range []struct {
		balance   string
		intercept bool
		want      string
	}{
		{"auto", false, " collapse"}, {"share", false, " collapse balance"}, {"labels", true, " collapse"},
		{"share", true, ""},
	} {
		o := plainOptions()
		o.Balance, o.FitIntercept, o.Alpha, o.UnlabeledWeight = c.balance, c.intercept, 1, 1e-6
		warnings := mustFit(t, data, nil, o).Model.Warnings
		if kinds(warnings) != "long_features"+c.want {
			t.Errorf("balance %s, intercept %v: warnings %v", c.balance, c.intercept, warnings)
		}
		want := "class 1 is predicted for 0.0% of the unlabeled rows, but its share in the class prior is 44.4%: "
		if len(warnings) > 1 && !strings.HasPrefix(warnings[1].Text, want) {
			t.Errorf("balance %s, intercept %v: %s", c.balance, c.intercept, warnings[1].Text)
		}
	}
	one := mustFit(t, planted.Topics(21, 30, 20, 0.5, 11), nil, plainOptions()) // row, which can only be all of one class
	if w := one.Model.Warnings; kinds(w) != "one_unlabeled" {
		t.Errorf("warnings %v of one unlabeled row", w)
	}
}

// Unlabeled rows lower the error, their labels keep the shares, and are those of the model's scores.
func TestUnlabeledRowsHelpAndTheShareIsKept(t *testing.T) {
	five := fiveClasses(800, 3)
	prior := make([]float64, 5)
	for i, y := range five.Truth {
		if five.Labels[i] < 0 {
			prior[y] += 1.0 / 790
		}
	}
	for _, c := range []struct {
		data      planted.Data
		shares    []float64
		all       map[string]method.Options
		gain, off float64 // least and most
	}{
		{planted.Topics(1500, 240, 6, 0.3, 12), []float64{0.7, 0.3}, settings(), 0.05, 0.002},
		{five, prior, classSettings(), 0.1, 0.01},
	} {
		for name, o := range c.all {
			o.ClassPrior.Shares = c.shares
			plain := o
			plain.UnlabeledWeight = 0
			supervised, _ := outcome(mustFit(t, c.data, nil, plain), c.data, c.shares)
			result := mustFit(t, c.data, nil, o)
			wrong, off := outcome(result, c.data, c.shares)
			if wrong > supervised-c.gain || o.Balance != "labels" && off > c.off {
				t.Errorf("%s: error %.3f, supervised %.3f; a share is off by %.4f", name, wrong, supervised, off)
			}
			for i, s := range byRow(result, c.data) {
				if y := vector.Largest(s); c.data.Labels[i] < 0 && result.Transduction[i] != int32(y) {
					t.Fatalf("%s: row %d is class %d by its scores, %d by the fit", name, i, y, result.Transduction[i])
				}
			}
		}
	}
}

// The final weights are the best ones for the final labels: their objective is recomputed from dense rows.
func TestFinalWeightsAreOptimalForTheFinalLabels(t *testing.T) {
	for _, data := range []planted.Data{planted.Topics(600, 60, 6, 0.4, 3), planted.Classes(300, 40, 20, fiveShares, 3)} {
		for _, by := range []method.Method{"annealing", "switching"} {
			o := plainOptions()
			o.Method, o.Balance, o.ClassPrior.Shares, o.Tol = by, "labels", data.Shares(), 1e-9
			result := mustFit(t, data, nil, o)
			l, best := newLabelings(data, o.Alpha, nil), 0.0
			for k := range result.Model.Outputs {
				best += l.side(result.Transduction, int32(k+2-min(2, result.Model.Outputs)))
			}
			if got := result.Model.Objective; !(math.Abs(got-best) < 2e-9*best) {
				t.Errorf("%s: objective %v, of the best weights %v", by, got, best)
			}
		}
	}
}

// Methods have no part in fits without unlabeled rows, or with rows without weight, which keep their labels.
func TestNoUnlabeledRowsAndNoWeightGiveTheSupervisedSolution(t *testing.T) {
	two, five := planted.Topics(200, 60, 200, 0.5, 4), planted.Classes(300, 250, 300, fiveShares, 6)
	for _, loss := range []method.Loss{"squared_hinge", "maxent", "crammer_singer"} {
		for _, data := range []planted.Data{two, five} {
			var reference *Result
			for _, by := range []method.Method{"annealing", "switching", "pair_switching"} {
				o := plainOptions()
				o.Method, o.Loss = by, loss
				if result := mustFit(t, data, nil, o); reference == nil {
					reference = result
				} else if !slices.Equal(result.Model.Coef, reference.Model.Coef) || len(result.Model.Warnings) != 1 {
					t.Errorf("%s, %s: another solution, or warnings %v", by, loss, result.Model.Warnings)
				}
			}
			if wrong := disagreement(reference.Transduction, data.Truth); wrong > 0 {
				t.Errorf("%s: %d given labels changed", loss, wrong)
			}
		}
	}
	half := planted.Topics(200, 60, 100, 0.5, 4)
	none := plainOptions()
	none.UnlabeledWeight = 0
	weights := slices.Concat(slices.Repeat([]float64{1}, 100), make([]float64, 100))
	without, with := mustFit(t, half, weights, plainOptions()).Model, mustFit(t, half, nil, none).Model
	if !slices.Equal(without.Coef, with.Coef) {
		t.Error("unlabeled_weight 0 and rows of weight 0 differ")
	}
}

// Where all unlabeled rows are equal no threshold can part them: the side that is nearer to the prior takes all.
func TestEqualRowsGoToTheLikelierSide(t *testing.T) {
	data := planted.Topics(4, 30, 4, 0.5, 14)
	equal := data.Chosen(append([]int{0, 1}, slices.Repeat([]int{1}, 40)...))
	for i := range equal.Labels[2:] {
		equal.Labels[2+i] = -1
	}
	for name, o := range settings() {
		for _, prior := range []float64{0.1, 0.9} {
			o.ClassPrior.Shares = []float64{1 - prior, prior}
			score := byRow(mustFit(t, equal, nil, o), equal)[2][1]
			if o.Balance != "labels" && (math.Abs(score) < 1e-9 || (score > 0) != (prior > 0.5)) {
				t.Errorf("%s: the equal rows have the score %v, the class prior says %v", name, score, prior)
			}
		}
	}
}

// Labels of one class leave every method nothing to learn.
func TestOneClassGivesAConstantModelAndAWarning(t *testing.T) {
	data := planted.Topics(20, 30, 4, 0.5, 11)
	for i := range 4 {
		data.Labels[i] = 1
	}
	for _, by := range names(method.Defaults(), "method") {
		o := plainOptions()
		o.Method, o.Loss = method.Method(by), method.Find(method.Method(by)).Losses[0]
		result := mustFit(t, data, nil, o)
		for i, s := range byRow(result, data) {
			if s[1] <= 0 || result.Transduction[i] != 1 {
				t.Fatalf("%s: row %d has the scores %v", by, i, s)
			}
		}
		if w := result.Model.Warnings; kinds(w) != "one_class" || w[0].Values["class"] != 1 {
			t.Errorf("%s: warnings %v", by, w)
		}
	}
}

// The columns of a history are as long. Soft labels keep the shares, of labeled rows half, and after one step, which is
// no annealing, they are those of the supervised scores and not the class prior.
func TestHistoryAndSoftLabels(t *testing.T) {
	data := planted.Topics(500, 60, 10, 0.3, 7)
	for name, o := range settings() {
		for _, o.MaxIter = range []int{1, 1000} {
			result := mustFit(t, data, nil, o)
			for _, column := range result.History {
				if len(column.Values) != len(result.History[0].Values) || len(column.Values) == 0 {
					t.Errorf("%s: history %q has %d entries", name, column.Name, len(column.Values))
				}
			}
			if passes := passesOf(t, result); o.MaxIter > 1 && o.Method != "pair_switching" && !(passes > 10 && passes < 1000) {
				t.Errorf("%s: %v passes", name, passes)
			}
			if o.Method != "annealing" {
				continue
			}
			positive, least, most := 0.0, 1.0, 0.0
			for i, label := range data.Labels {
				p := result.Distributions[2*i : 2*i+2]
				if math.Abs(p[0]+p[1]-1) > 1e-12 || label >= 0 && p[label] != 1 {
					t.Fatalf("%s: row %d has soft labels %v", name, i, p)
				}
				if label < 0 {
					positive, least, most = positive+p[1], min(least, p[1]), max(most, p[1])
				}
			}
			if math.Abs(positive/490-0.5) > 1e-9 || most-least < 0.1 {
				t.Errorf("%s: soft labels from %v to %v say %v positive", name, least, most, positive/490)
			}
		}
	}
}

// checkOwnParts recomputes the parts that rows owe to themselves: λ' w g |x - μ|² / α, with the slope -g of the loss at
// a decision z of two classes.
func checkOwnParts(t *testing.T, f *fitted, minusSlope func(z float64) float64) {
	d, s := f.data, f.data.sample
	of, center := d.decisions(s.Packed(f.Model)), s.Center(s.Job)
	own := f.ownParts(of)
	for k, i := range s.Unlabeled {
		z, length := 2*of.scores(i)[1], s.Rows.SquaredNorm(int(i))+vector.Dot(center, center)
		s.Rows.Row(int(i), func(j int, value float64) { length -= 2 * value * center[j] })
		want := d.options.UnlabeledWeight * s.UnlabeledWeight[k] * minusSlope(z) * length / d.options.Alpha
		if far := math.Abs(2*own[2*k+1] - want); far > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("row %d: own part %v, want %v", i, 2*own[2*k+1], want)
		}
	}
}

// New rows get the given shares more nearly than without the move, and no row of the fit another class.
func TestThresholdsMoveForNewRows(t *testing.T) {
	before, after := 0.0, 0.0
	for seed := range uint64(8) {
		whole := planted.Topics(1200, 3000, 20, 0.75, seed)
		p, o, share := problemOf(whole), method.Defaults(), whole.Shares()[1]
		o.Method, o.ClassPrior.Shares = "switching", whole.Shares()
		seen := partOf(t, p, numbers(300))
		d := dataOf(t, seen, o)
		found, err := learn(d)
		if err != nil {
			t.Fatal(err)
		}
		still := *found.Model
		still.Intercept = slices.Clone(still.Intercept)
		checkOwnParts(t, found, func(z float64) float64 { return math.Copysign(max(0, 1-math.Abs(z)), z) })
		found.moveForNewRows()
		if before := found.Model.Intercept[0] - still.Intercept[0]; before == 0 {
			t.Errorf("seed %d: the threshold stays", seed)
		}
		off := func(m *model.Linear) float64 {
			values, n := make([]float64, 1200), 0.0
			if err := m.Decisions(work.NewPool(1), p.Rows, values); err != nil {
				t.Fatal(err)
			}
			for _, z := range values[300:] {
				if z > 0 {
					n++
				}
			}
			return math.Abs(n/900 - share)
		}
		before, after = before+off(&still)/8, after+off(found.Model)/8
		for i, scores := range byRow(found.Result, planted.Data{Dense: whole.Dense[:300]}) {
			if y := vector.Largest(scores); seen.Labels[i] < 0 && int(found.Transduction[i]) != y {
				t.Errorf("seed %d: row %d has class %d, not %d", seed, i, y, found.Transduction[i])
			}
		}
	}
	if after > before/2 {
		t.Errorf("the share of new rows is %.3f off, %.3f before the move", after, before)
	}
}
