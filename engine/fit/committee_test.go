package fit

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// unevenTopics are cases whose estimated shares differ from those of the labels, which are even.
func unevenTopics() map[string]planted.Data {
	two, _ := topicsOf(2, 16, 33)
	three, _ := topicsOf(3, 15, 33)
	return map[string]planted.Data{"two": two, "three": three}
}

// doubleMixture is EM for multinomials, written from its definition: scores [n][K] of the rows, less their mean. It
// begins with the labels, or with the descriptions if there are any; then the shares are given.
func doubleMixture(data planted.Data, classes int, given []float64, described ...int) [][]float64 {
	d, n := len(data.Dense[0]), len(data.Dense)
	sum, entries, features := 0.0, 0.0, map[int]bool{}
	for _, row := range data.Dense {
		for j, v := range row {
			if v != 0 {
				sum, entries, features[j] = sum+v, entries+1, true
			}
		}
	}
	posterior, share := make([][]float64, n), make([]float64, classes)
	for i, y := range data.Labels {
		posterior[i] = make([]float64, classes)
		if y >= 0 && (described == nil || slices.Contains(described, i)) {
			posterior[i][y]++
			share[y]++
		}
	}
	steps, part, named := 8, 0.0, make([][]float64, classes) // descriptions: part, the number of their words in a row
	if described != nil {
		steps = 16
		for j := range d {
			if slices.ContainsFunc(described, func(i int) bool { return data.Dense[i][j] > 0 }) {
				for _, row := range data.Dense {
					part += row[j] * entries / sum / float64(n)
				}
			}
		}
	}
	scores, changes, rows, before := make([][]float64, n), n, 0, []float64(nil)
	for step := 0; step < steps && (step == 0 || float64(changes) >= 0.01*float64(rows)); step++ {
		changes, rows = 0, 0
		if described != nil {
			floats.ScaleTo(share, vector.Sum(share), given)
		}
		for y := range share { // one row more in each class
			share[y]++
		}
		vector.Scale(share, 1/vector.Sum(share))
		before = slices.Clone(share)
		for i := range scores {
			scores[i] = make([]float64, classes)
		}
		for y := range classes {
			words := make([]float64, d)
			for i, row := range data.Dense {
				vector.Add(words, posterior[i][y]*entries/sum, row)
			}
			total := vector.Sum(words) + 0.1*float64(len(features))
			for j := range words {
				words[j] = math.Log((words[j] + 0.1) / total)
			}
			if step == 0 {
				named[y] = slices.Clone(words)
			}
			vector.Add(words, part, named[y])
			for i, row := range data.Dense {
				scores[i][y] = math.Log(share[y])
				for j, v := range row {
					scores[i][y] += 0.2 * v * entries / sum * words[j]
				}
			}
		}
		clear(share)
		for i, label := range data.Labels {
			if label >= 0 {
				posterior[i][label] = 1
				continue
			}
			rows++
			if step == 0 || vector.Largest(posterior[i]) != vector.Largest(scores[i]) {
				changes++
			}
			vector.Softmax(posterior[i], scores[i])
			vector.Add(share, 1, posterior[i])
		}
	}
	if described != nil {
		floats.ScaleTo(share, vector.Sum(share), given)
	}
	for _, row := range scores { // the shares are those of the last step
		for y := range row {
			row[y] += math.Log((share[y] + 1) / (vector.Sum(share) + float64(classes)) / before[y])
		}
	}
	return scores
}

// byRow are the class scores [n][K].
func byRow(result *Result, data planted.Data) [][]float64 {
	return slices.Collect(slices.Chunk(linearScores(result, data.Dense), result.Model.Classes))
}

// centered are scores [n][K] less their mean, over the root of the mean square of those of the unlabeled rows.
func centered(data planted.Data, scores [][]float64) (out [][]float64, spread float64) {
	rows := 0.0
	for i, row := range scores {
		row = slices.Clone(row)
		mean := vector.Sum(row) / float64(len(row))
		for y := range row {
			row[y] -= mean
		}
		if data.Labels[i] < 0 {
			rows, spread = rows+1, spread+vector.Dot(row, row)
		}
		out = append(out, row)
	}
	spread = math.Sqrt(spread / rows)
	for _, row := range out {
		vector.Scale(row, 1/spread)
	}
	return out, spread
}

// The classifier is T' + v (S + M): T' and S as separate fits find them. Where the labels support the shares, v is half
// as large, and T' is solved to the end. Where all classes have a description it is T' + v (S/2 + 2 M), and M
// has the shares of the fit. With fewer than 20 unlabeled rows a label M counts less, by their number.
func TestACommitteeIsTheMeanOfThreeClassifiers(t *testing.T) {
	sets := unevenTopics()
	sets["even"] = planted.Topics(900, 150, 16, 0.5, 1)
	sets["few"] = planted.Topics(120, 150, 16, 0.5, 1)
	sets["described"], _ = topicsOf(3, 15, 33)
	for name, data := range sets {
		o, part, tol, p := method.Defaults(), 1.0, calibratedTol, problemOf(data)
		ofSupervised, ofMixture, described := 1.0, 1.0, []int(nil)
		switch name {
		case "even", "few":
			part, tol = supported, o.Tol
		case "described":
			ofSupervised, ofMixture, described = 0.5, 2, labeledPlaces(p)[:3]
			p = describing(p, described...)
		}
		together, err := learn(dataOf(t, p, o)) // before intercepts move for new rows
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, model := range together.data.trained.stages[1:] {
			names = append(names, model.Name)
		}
		wanted := []string{names[0], "mixture", "supervised"}
		if name == "described" { // the shares move here: the mixture is fitted once more, at those that settled
			wanted = []string{"annealing", "annealing", "mixture", "mixture", "supervised"}
		}
		if slices.Sort(names); len(names) == 0 || !slices.Equal(names[1:], wanted[1:]) {
			t.Fatalf("%s: trained %v, shares %v", name, names, together.Model.ClassPrior)
		}
		classes := together.Model.Classes
		given, supervised := o, o
		given.ClassPrior.Shares, given.ClassPrior.Rule, given.Tol, given.Method = together.Model.ClassPrior, "auto", tol, "annealing"
		supervised.UnlabeledWeight = 0
		alone := dataOf(t, p, given)
		alone.prior.ChosenLabels, alone.prior.Evidence = true, together.data.prior.Evidence
		one, err := alone.Train(Member{})
		if err != nil {
			t.Fatal(err)
		}
		transductive, spread := centered(data, byRow(one.Result, data))
		views, _ := centered(data, byRow(mustFitProblem(t, p, supervised), data))
		mixture, _ := centered(data, doubleMixture(data, classes, together.Model.ClassPrior, described...))
		labeled := float64(len(labeledPlaces(p))) // without descriptions
		if name == "few" {                        // 104 unlabeled rows, 16 labels
			ofMixture = 104. / (20 * 16)
		}
		v, worst := part*4/(4+labeled/float64(classes)), 0.0
		got, _ := centered(data, byRow(together.Result, data))
		for i := range got {
			want := slices.Clone(transductive[i])
			vector.Add(want, v*ofSupervised, views[i])
			vector.Add(want, v*ofMixture, mixture[i])
			transductive[i] = want
		}
		want, _ := centered(data, transductive)
		for i := range got {
			for y := range got[i] {
				worst = max(worst, math.Abs(got[i][y]-want[i][y]))
			}
			if data.Labels[i] < 0 && int(together.Transduction[i]) != vector.Largest(got[i]) {
				t.Errorf("%s: row %d has class %d", name, i, together.Transduction[i])
			}
		}
		if !(worst < 1e-3) || !(spread > 0) { // the fits stop within tol
			t.Errorf("%s: scores differ by %.2g of their spread", name, worst)
		}
	}
}

// Shares that are given need no committee; those near the shares of the labels stay.
func TestACommitteeKeepsSharesThatAreGivenOrThoseOfTheLabels(t *testing.T) {
	data := planted.Topics(900, 150, 16, 0.5, 1)
	o := method.Defaults()
	if got := mustFit(t, data, nil, o); math.Abs(got.Model.ClassPrior[1]-0.5) > 0.1 || got.Trained[2].Name != "mixture" || got.Trained[3].Models != 1 {
		t.Errorf("shares %v, trained %v", got.Model.ClassPrior, got.Trained)
	}
	o.ClassPrior.Shares = []float64{0.7, 0.3}
	if got := mustFit(t, data, nil, o); got.Trained[0].Name != "annealing" || len(got.Trained) > 2 {
		t.Errorf("given shares: trained %v", got.Trained)
	}
}

// A transductive classifier without weights, by a regularization as strong, moves no shares.
func TestACommitteeKeepsSharesWhereNoWeightIsLeft(t *testing.T) {
	for name, data := range unevenTopics() {
		alone, o := method.Defaults(), method.Defaults()
		alone.Method, alone.Alpha, o.Alpha = "annealing", 1e6, 1e6
		want, got := mustFit(t, data, nil, alone).Model.ClassPrior, mustFit(t, data, nil, o).Model.ClassPrior
		for y := range want {
			if !(math.Abs(got[y]-want[y]) < 1e-12) {
				t.Errorf("%s: shares %v, should be %v", name, got, want)
			}
		}
	}
}

// The shares move by u v towards mean probabilities of T + v (S + u M), with T of a third of the rows, until they move
// little; u is 1 from 20 unlabeled rows a label on.
func TestACommitteeMovesTheSharesToThoseItPredicts(t *testing.T) {
	sets, moves := unevenTopics(), 0
	sets["few labels"], _ = topicsOf(3, 9, 33)
	var few []int
	for i, y := range sets["two"].Labels {
		if y >= 0 || i%5 == 0 {
			few = append(few, i)
		}
	}
	sets["few rows"] = sets["two"].Chosen(few)
	for name, data := range sets {
		o := method.Defaults()
		o.Tol = 1e-8 // T of a third is solved to looseness times that
		x := settingOf(t, data, o)
		classes, supervised := x.sample.Classes(), o
		part, _ := x.sample.Part(third, 0)
		var chosen []int
		for _, i := range part.Rows {
			chosen = append(chosen, int(i))
		}
		some := data.Chosen(chosen)
		supervised.UnlabeledWeight = 0
		views, _ := centered(data, byRow(mustFit(t, data, nil, supervised), data))
		mixture, _ := centered(data, doubleMixture(data, classes, nil))
		labels := float64(len(x.sample.Labeled))
		v, u := 4/(4+labels/float64(classes)), min(1, float64(len(x.sample.Unlabeled))/(20*labels))
		moved := func(from []float64) []float64 {
			given := o
			given.Tol, given.UnlabeledWeight = looseness*o.Tol, x.sample.Options.UnlabeledWeight
			given.ClassPrior = sample.ClassPrior{Shares: from, Rule: "auto"}
			small := settingOf(t, some, given)
			small.prior.ChosenLabels, small.prior.Evidence, small.whole = true, x.prior.Evidence, x.sample.All.Unlabeled
			small.options.Alpha *= math.Pow(x.sample.Length/small.sample.Length, 2) // in units of all rows
			one, err := small.Train(Member{})
			if err != nil || !one.reason().Natural() {
				t.Fatal(err, one.reason())
			}
			scores, _ := centered(data, byRow(one.Result, data))
			for i := range scores {
				vector.Add(scores[i], v, views[i])
				vector.Add(scores[i], u*v, mixture[i])
			}
			mean, _ := centered(data, scores)
			rows, to := float64(x.sample.All.Unlabeled), make([]float64, classes)
			vector.Add(to, 1-u*v, from)
			for i, row := range mean {
				if data.Labels[i] < 0 {
					vector.Scale(row, 16)
					vector.Softmax(row, row)
					vector.Add(to, u*v/rows, row)
				}
			}
			return to
		}
		want := x.prior.Shares
		for far := true; far; moves++ {
			to := moved(want)
			far, want = shares.Distance(to, want) >= 0.05, to
		}
		for y, got := range mustFit(t, data, nil, o).Model.ClassPrior {
			if math.Abs(got-want[y]) > 5e-4 {
				t.Errorf("%s: share %v of class %d, should be %v; the estimate is %v", name, got, y, want[y], x.prior.Shares[y])
			}
		}
	}
	if moves == len(sets) {
		t.Error("no shares moved twice")
	}
}

// A part ends with soft labels, but where max_iter ends it: then labels are far from hard, and settle.
func TestAPartThatEndsEarlySettles(t *testing.T) {
	for name, data := range unevenTopics() {
		for _, steps := range []int{1, 3, 10000} {
			o := method.Defaults()
			o.MaxIter = steps
			var coef [2][]float64
			for k := range coef {
				x := settingOf(t, data, o)
				x.whole = k
				result, err := x.Train(Member{})
				if err != nil {
					t.Fatal(err)
				}
				coef[k] = result.Model.Coef
			}
			if same := slices.Equal(coef[0], coef[1]); same != (steps < 10000) {
				t.Errorf("%s, %d steps: the same result is %v", name, steps, same)
			}
		}
	}
}

// A committee averages, so that the shares of the classes that it predicts are not those of the estimate: no collapse.
// One or two labels of each class leave uneven shares a guess; those of even classes hardly look uneven, from two on.
func TestWarningsOfTheSharesOfACommittee(t *testing.T) {
	for labels, most := range map[int]int{3: 7, 6: 2} { // and most warnings of even classes
		warned := [2]int{}
		for seed := range uint64(15) {
			for k, shares := range [][]float64{{0.8, 0.1, 0.1}, {0.4, 0.3, 0.3}} {
				data := planted.Classes(400, 400, labels, shares, seed)
				for _, w := range mustFit(t, data, nil, method.Defaults()).Model.Warnings {
					if warned[k]++; w.Kind != "guessed_shares" {
						t.Errorf("seed %d: %v", seed, w)
					}
				}
			}
		}
		if warned[0] < 4 || warned[1] > most {
			t.Errorf("%d labels: %v of 15 fits warn, with a class of .8 and with even ones", labels, warned)
		}
	}
}
