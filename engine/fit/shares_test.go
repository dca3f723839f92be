package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/work"
)

// evidenceOf is that of a problem.
func evidenceOf(t *testing.T, p sample.Problem, threads int) (*shares.Evidence, *Data) {
	t.Helper()
	d, err := open(p, nil, method.Defaults(), work.NewJob(threads, nil))
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := d.evidence("class_prior")
	if err != nil {
		t.Fatal(err)
	}
	return evidence, d
}

func problemOf(data planted.Data) sample.Problem {
	return sample.Problem{Rows: data.Rows, Labels: data.Labels}
}

func estimated(t *testing.T, p sample.Problem) (found []float64, drawn float64) {
	t.Helper()
	evidence, _ := evidenceOf(t, p, 1)
	return evidence.Shares(work.NewJob(1, nil))
}

func distance(a, b []float64) float64 {
	most := 0.0
	for y, v := range a {
		most = max(most, math.Abs(v-b[y]))
	}
	return most
}

func TestSharesOfLabelsPickedEquallyAreFound(t *testing.T) {
	for _, want := range [][]float64{{0.8, 0.2}, {0.1, 0.9}, {0.5, 0.3, 0.2}} {
		data := planted.Classes(3000, 240, 240, want, 4)
		found, drawn := estimated(t, problemOf(data))
		if distance(found, want) > 0.05 || drawn > 0.01 {
			t.Errorf("%v found for %v, drawn at random with probability %v", found, want, drawn)
		}
	}
}

func TestSharesOfRandomLabelsStayNearTheirs(t *testing.T) {
	apart, random := 0.0, 0
	for seed := range uint64(10) {
		data := planted.Classes(2000, 240, 0, []float64{0.75, 0.15, 0.1}, seed)
		copy(data.Labels, data.Truth[:60])
		evidence, d := evidenceOf(t, problemOf(data), 1)
		found, drawn := evidence.Shares(d.job)
		apart += distance(found, shares.OfLabels(d.sample)) / 10
		if drawn > 0.5 {
			random++
		}
	}
	if apart > 0.05 || random < 8 {
		t.Errorf("%v from the shares of the labels on average; %d of 10 times they look drawn at random", apart, random)
	}
}

func TestOneLabelOfEachClassGivesTheirShares(t *testing.T) {
	p := problemOf(planted.Classes(300, 60, 3, []float64{0.6, 0.3, 0.1}, 1))
	p.Weights = slices.Repeat([]float64{1}, 300)
	for i, y := range p.Labels {
		if y == 1 {
			p.Weights[i] = 2
		}
	}
	evidence, d := evidenceOf(t, p, 1)
	if split := crossfit.NewSplit(d.sample, 300); split.Folds != 0 {
		t.Errorf("%d folds", split.Folds)
	}
	found, _ := evidence.Shares(d.job)
	if !slices.Equal(found, []float64{0.25, 0.5, 0.25}) {
		t.Errorf("%v found", found)
	}
	lower, upper := evidence.Interval(d.job, found, shares.Bootstrap{Times: 5, Level: 0.9})
	if slices.Max(lower) != 0 || slices.Min(upper) != 1 {
		t.Errorf("interval from %v to %v, though nothing is known", lower, upper)
	}
}

func TestAWeightIsARowTwiceForShares(t *testing.T) {
	p := problemOf(planted.Classes(800, 120, 60, []float64{0.6, 0.3, 0.1}, 5))
	list, twice := numbers(800), p
	twice.Labels, p.Weights = slices.Clone(p.Labels), slices.Repeat([]float64{1}, 800)
	for i := range 360 {
		list, twice.Labels, p.Weights[i] = append(list, int32(i)), append(twice.Labels, p.Labels[i]), 2
	}
	twice.Rows = p.Rows.Selected(work.NewPool(1), list)
	weighted, _ := estimated(t, p)
	repeated, _ := estimated(t, twice)
	if distance(weighted, repeated) > 1e-5 {
		t.Errorf("%v with weights, %v with rows twice", weighted, repeated)
	}
}

func TestSharesHaveTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 3)
	p := problemOf(planted.Classes(12000, 240, 60, []float64{0.6, 0.3, 0.1}, 6))
	var want [][]float64
	for threads := 1; threads <= 3; threads++ {
		evidence, d := evidenceOf(t, p, threads)
		found, _ := evidence.Shares(d.job)
		lower, upper := evidence.Interval(d.job, found, shares.Bootstrap{Times: 5, Level: 0.9, Seed: 3})
		got := [][]float64{found, lower, upper}
		if threads == 1 {
			want = got
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
			t.Errorf("%v on %d threads, %v on one", got, threads, want)
		}
	}
}

// With ten labels a class all classes begin at the same fold.
func TestAPermutationOfClassesPermutesShares(t *testing.T) {
	p := problemOf(planted.Classes(1000, 120, 30, []float64{0.6, 0.3, 0.1}, 7))
	want, _ := estimated(t, p)
	for i, y := range p.Labels {
		if y >= 0 {
			p.Labels[i] = (y + 1) % 3
		}
	}
	got, _ := estimated(t, p)
	if moved := []float64{got[1], got[2], got[0]}; distance(moved, want) > 1e-5 {
		t.Errorf("%v, and %v with the classes permuted", want, moved)
	}
}

func TestIntervalsHoldTheShares(t *testing.T) {
	want, inside, wide := []float64{0.6, 0.3, 0.1}, 0, 0.0
	for seed := range uint64(20) {
		e, d := evidenceOf(t, problemOf(planted.Classes(1060, 240, 60, want, 100+seed)), 2)
		found, _ := e.Shares(d.job)
		lower, upper := e.Interval(d.job, found, shares.Bootstrap{Times: 30, Level: 0.9})
		for y, share := range want {
			wide += (upper[y] - lower[y]) / 60
			if lower[y] <= share && share <= upper[y] {
				inside++
			}
		}
	}
	if inside < 50 || wide > 0.35 {
		t.Errorf("%d of 60 shares are inside the interval, whose mean width is %v", inside, wide)
	}
}

func TestEightLabelsOfEachClassRevealTheirShares(t *testing.T) {
	apart := 0.0
	for seed := range uint64(10) {
		want := []float64{0.75, 0.25}
		found, _ := estimated(t, problemOf(planted.Classes(1500, 120, 16, want, 200+seed)))
		apart += distance(found, want) / 10
	}
	if apart > 0.17 { // labels alone: 0.25; without the mixture 0.19
		t.Errorf("%v from the true shares on average", apart)
	}
}

// A view that says nothing, or the opposite, changes the shares little.
func TestAWrongViewHasNoWeight(t *testing.T) {
	job, random := work.NewJob(1, nil), rand.New(rand.NewPCG(3, 4))
	for _, sign := range []float64{0, -1} {
		e, _ := evidenceOf(t, problemOf(planted.Classes(1500, 120, 90, []float64{0.6, 0.3, 0.1}, 9)), 1)
		alone := func(change func(mixture, linear []float64)) []float64 {
			scores := *e.Scores
			for _, rows := range []*crossfit.Scored{&scores.Held, &scores.Unlabeled} {
				rows.Scores = slices.Clone(rows.Scores)
				for row := range slices.Chunk(rows.Scores, 6) {
					change(row[3:], row[:3])
				}
			}
			found, _ := (&shares.Evidence{Scores: &scores}).Shares(job)
			return found
		}
		without := alone(func(mixture, _ []float64) { clear(mixture) })
		with := alone(func(mixture, linear []float64) {
			for y := range mixture {
				mixture[y] = sign*linear[y] + (1+sign)*random.NormFloat64()
			}
		})
		if distance(with, without) > 0.03 {
			t.Errorf("%v with a wrong view, %v without", with, without)
		}
	}
}

// Which of many unlabeled rows are used does not depend on their order.
func TestSharesOfManyRowsHaveNoOrder(t *testing.T) {
	data := planted.Classes(7000, 60, 30, []float64{0.6, 0.3, 0.1}, 1)
	want, _ := estimated(t, problemOf(data))
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(data.Labels))
	list, labels := make([]int32, len(order)), make([]int32, len(order))
	for k, i := range order {
		list[k], labels[k] = int32(i), data.Labels[i]
	}
	data.Rows, data.Labels = data.Rows.Selected(work.NewPool(1), list), labels
	if got, _ := estimated(t, problemOf(data)); distance(got, want) > 1e-4 {
		t.Errorf("%v, in another order %v", want, got)
	}
}

func TestScoresOfAViewSumToZero(t *testing.T) {
	data := planted.Classes(300, 60, 30, []float64{0.5, 0.3, 0.2}, 5)
	for _, unit := range []float64{1, -1} { // mixtures of words and of spheres
		p := problemOf(data)
		p.Rows = p.Rows.Scaled(unit)
		scores, _ := evidenceOf(t, p, 1)
		if scores.Views != 2 || len(scores.Held.Weight) != 30 || len(scores.Unlabeled.Weight) != 270 {
			t.Errorf("%d views, %d rows held out, %d not", scores.Views, len(scores.Held.Weight), len(scores.Unlabeled.Weight))
		}
		for view := range slices.Chunk(slices.Concat(scores.Held.Scores, scores.Unlabeled.Scores), 3) {
			if sum := view[0] + view[1] + view[2]; math.Abs(sum) > 1e-9*(1+math.Abs(view[0])) {
				t.Fatalf("scores %v", view)
			}
		}
	}
}
