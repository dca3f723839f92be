package fit

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
)

// describing is the problem whose labels at these places are descriptions.
func describing(p sample.Problem, places ...int) sample.Problem {
	p.Labels = slices.Clone(p.Labels)
	for _, i := range places {
		p.Labels[i] = -2 - p.Labels[i]
	}
	return p
}

func labeledPlaces(p sample.Problem) (places []int) {
	for i, y := range p.Labels {
		if y >= 0 {
			places = append(places, i)
		}
	}
	return places
}

// With given shares a description is a label: the same bits of every method.
func TestDescriptionsAreLabelsAtGivenShares(t *testing.T) {
	p := problemOf(fiveClasses(300, 4))
	for _, name := range []method.Method{method.Supervised, "annealing", "switching", "auto"} {
		o := plainOptions()
		o.Method = name
		if name == method.Supervised {
			o.Method, o.UnlabeledWeight = "annealing", 0
		}
		o.ClassPrior = sample.ClassPrior{Shares: []float64{0.3, 0.3, 0.2, 0.1, 0.1}}
		o.ClassWeight.Rule = "none"
		labels, described := mustFitProblem(t, p, o), mustFitProblem(t, describing(p, labeledPlaces(p)...), o)
		if !slices.Equal(labels.Model.Coef, described.Model.Coef) ||
			!slices.Equal(labels.Transduction, described.Transduction) {
			t.Errorf("%s: descriptions are not learned as labels", name)
		}
	}
}

// Shares of the labels are those of the rows that were drawn; every class that has labels can lose one.
func TestDescriptionsSayNothingOfShares(t *testing.T) {
	p := problemOf(fiveClasses(300, 4))
	var described []int
	first := map[int32]bool{} // one label of each class stays
	for _, i := range labeledPlaces(p) {
		if y := p.Labels[i]; first[y] || y == 4 {
			described = append(described, i)
		}
		first[p.Labels[i]] = true
	}
	x := dataOf(t, describing(p, described...), method.Defaults())
	if x.labels != 4./5 {
		t.Errorf("%v labels of a class, should be .8", x.labels)
	}
	split := crossfit.NewSplit(x.sample, 100)
	for k, fold := range split.Labeled {
		if x.sample.Describes[k] != (fold < 0) {
			t.Errorf("label %d of class %d, description %v, is held out by fold %d", k, x.sample.Class[k],
				x.sample.Describes[k], fold)
		}
	}
	if totals := x.prior.Evidence.Totals; !slices.Equal(totals, []float64{1, 1, 1, 1, 0}) {
		t.Errorf("the labels count %v", totals)
	}
}

// Sets of classes go with descriptions; a class of which there is a description alone is one of them.
func TestDescriptionsBesideSets(t *testing.T) {
	data := fiveClasses(300, 4)
	p := withCosts(data, 5, sets(data, 5, 2, 1))
	result := mustFitProblem(t, describing(p, labeledPlaces(p)...), method.Defaults())
	right := 0
	for i, y := range data.Truth {
		if result.Transduction[i] == y {
			right++
		}
	}
	if right < 200 {
		t.Errorf("%d of 300 right", right)
	}
}

// Where every class has a description, more labels of one class than of another do not give it the rows that no
// description reaches: a mixture begins without labels.
func TestLabelsOfOneClassDoNotTakeTheRows(t *testing.T) {
	const n, words = 600, 40 // words of a class, six of which describe it; a row has three of them
	random := rand.New(rand.NewPCG(3, 4))
	x := planted.Sparse(n+2, 2*words, func(i int, add func(int, float64)) {
		chosen := random.Perm(words)[:3]
		if i >= n {
			chosen = []int{0, 1, 2, 3, 4, 5}
		}
		for _, j := range chosen {
			add(i%2*words+j, 1)
		}
	})
	labels := slices.Repeat([]int32{-1}, n+2)
	labels[21], labels[n], labels[n+1] = 1, -2, -3
	for i := range 6 {
		labels[20*i] = 0
	}
	p := sample.Problem{Rows: x, Labels: labels}
	d := dataOf(t, p, method.Defaults())
	mixture, err := d.Train(Member{method: method.Mixture})
	if err != nil {
		t.Fatal(err)
	}
	right, all := 0, d.decisions(d.sample.Packed(mixture.Model))
	for i := range n {
		if vector.Largest(all.scores(int32(i))) == i%2 {
			right++
		}
	}
	if right < n*9/10 {
		t.Errorf("%d of %d rows are right", right, n)
	}
}

// Without any label uneven classes are found nearer to their shares than even shares are.
func TestDescriptionsAlone(t *testing.T) {
	p := problemOf(planted.Classes(1200, 300, 3, []float64{0.6, 0.3, 0.1}, 5))
	result := mustFitProblem(t, describing(p, labeledPlaces(p)...), method.Defaults())
	if prior := result.Model.ClassPrior; !(prior[0] > 0.45 && prior[2] < 0.25) {
		t.Errorf("shares %v", prior)
	}
	for _, one := range result.Trained {
		if one.Name == string(method.Mixture) && one.Models != 1 {
			t.Errorf("%d mixtures: that of the shares is the view", one.Models)
		}
	}
	o := shares.Options{FitIntercept: true, Threads: 1}
	estimate, err := EstimateShares(describing(p, labeledPlaces(p)...), o, true)
	if err != nil || !slices.Equal(estimate.Share, result.Model.ClassPrior) || estimate.Upper[0] != 1 {
		t.Errorf("estimate %v, %v", estimate, err)
	}
	wrong := describing(p, labeledPlaces(p)...)
	wrong.Classes = 4
	if _, err := Fit(wrong, method.Defaults(), nil, nil); err == nil || !strings.Contains(err.Error(), "class 3 has no") {
		t.Errorf("got %v", err)
	}
	p.Labels[0] = -2 - 2000
	if _, err := Fit(p, method.Defaults(), nil, nil); err == nil || !strings.Contains(err.Error(), "row 0 is -2002") {
		t.Errorf("got %v", err)
	}
}

// A column takes descriptions of 1 and of 0. Where its labels are all 0, the share of 1 is small and not even.
func TestColumnsTakeDescriptions(t *testing.T) {
	p, labels := threeColumns()
	ones, zeros := slices.Clone(labels[0]), slices.Clone(labels[1])
	for i, y := range labels[0] {
		if y == 1 {
			ones[i] = -3
		}
	}
	for i, y := range labels[1] {
		if y == 0 {
			zeros[i] = -2
		}
	}
	columns := [][]int32{ones, zeros}
	together, err := Columns(p, columns, method.Defaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := method.Defaults()
	o.ClassPrior.Rule = "labels"
	for k, column := range columns {
		alone := p
		alone.Labels = column
		if !reflect.DeepEqual(withoutPasses(together[k]), withoutPasses(mustFitProblem(t, alone, o))) {
			t.Errorf("column %d differs from its separate fit", k)
		}
	}
	if share := together[0].Model.ClassPrior[1]; !(share > 0 && share < 0.25) {
		t.Errorf("share %v", share)
	}
	ones[0] = -4
	if _, err := Columns(p, columns, method.Defaults(), nil); err == nil || !strings.Contains(err.Error(), "0 is -4") {
		t.Errorf("got %v", err)
	}
}

// Machines find the fit of one, wherever the descriptions are.
func TestMachinesShareDescriptions(t *testing.T) {
	data := fiveClasses(600, 4)
	p := problemOf(data)
	places := labeledPlaces(p)
	for name, described := range map[string][]int{"alone": places, "beside labels": places[:7], "of one class": places[:1]} {
		p, parts := describing(p, described...), make([][]int32, 3)
		for i := range p.Labels {
			k := 1 + i%2
			if slices.Contains(described, i) { // on a machine that has nothing else
				k = 0
			}
			parts[k] = append(parts[k], int32(i))
		}
		p.Classes = 5
		got, errs := fitTogether(t, worktest.NewRanks(3), p, method.Defaults(), parts)
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameFit(t, name, method.Defaults(), mustFitProblem(t, p, method.Defaults()), got, parts)
	}
}

// A description without a feature counts as an unlabeled row, with a warning, or leaves its class without a label.
func TestEmptyDescriptions(t *testing.T) {
	data := fiveClasses(300, 4)
	p := problemOf(data)
	described := labeledPlaces(p)[0]
	class := p.Labels[described]
	p.Rows = planted.Resized(data.Rows, 0, func(row, _ int) float64 {
		if row == described {
			return 0
		}
		return 1
	})
	without := p
	without.Labels = slices.Clone(p.Labels)
	without.Labels[described] = -1
	with := mustFitProblem(t, describing(p, described), method.Defaults())
	if !slices.Equal(with.Model.Coef, mustFitProblem(t, without, method.Defaults()).Model.Coef) {
		t.Error("an empty description is no unlabeled row")
	}
	if w := with.Model.Warnings; len(w) == 0 || w[0].Kind != "empty_descriptions" {
		t.Errorf("warnings %v", w)
	}
	for i, y := range p.Labels {
		if y == class && i != described {
			p.Labels[i] = -1
		}
	}
	_, err := Fit(describing(p, described), method.Defaults(), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "or describe it by") {
		t.Errorf("got %v", err)
	}
}

// The shares of the labels are those of the drawn ones, if every class has one. A fit warns of a class without a label.
func TestSharesOfLabelsBesideDescriptions(t *testing.T) {
	p := problemOf(fiveClasses(300, 4))
	o := method.Defaults()
	o.ClassPrior.Rule = "labels"
	counts := make([]float64, 5)
	seen := map[int32]bool{}
	var described []int
	for _, i := range labeledPlaces(p) {
		if y := p.Labels[i]; seen[y] && i%2 == 0 {
			described = append(described, i)
		} else {
			seen[y] = true
			counts[y]++
		}
	}
	vector.Scale(counts, 1/vector.Sum(counts))
	if prior := mustFitProblem(t, describing(p, described...), o).Model.ClassPrior; !slices.Equal(prior, counts) {
		t.Errorf("shares %v, should be %v", prior, counts)
	}
	o.ClassPrior = sample.ClassPrior{Shares: []float64{0.2, 0.2, 0.2, 0.1, 0.1, 0.2}}
	model := mustFitProblem(t, describing(p, described...), o).Model
	if !slices.ContainsFunc(model.Warnings, func(w warning.Warning) bool { return w.Kind == "no_label" }) {
		t.Errorf("warnings %v", model.Warnings)
	}
}

// A row that equals a description is not held out: the models of its fold have seen it.
func TestRowsThatEqualADescriptionAreNotHeldOut(t *testing.T) {
	p := problemOf(fiveClasses(300, 4))
	places := labeledPlaces(p)
	x, n := planted.Dense(p.Rows), int32(len(p.Labels))
	chosen := append(numbers(int(n)), int32(places[0]))
	p.Rows = x
	p = partOf(t, p, chosen)
	p.Labels[n] = -2 - p.Labels[places[0]]
	d := dataOf(t, p, method.Defaults())
	split := crossfit.NewSplit(d.sample, 100)
	for k, i := range d.sample.Labeled {
		if (int(i) == places[0] || i == n) && split.Labeled[k] >= 0 {
			t.Errorf("row %d is held out by fold %d", i, split.Labeled[k])
		}
	}
}
