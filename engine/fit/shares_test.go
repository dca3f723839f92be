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
	d, err := open(p, method.Defaults(), work.NewJob(threads, nil))
	if err != nil {
		t.Fatal(err)
	}
	evidence, _, err := d.evidence("class_prior")
	if err != nil {
		t.Fatal(err)
	}
	return evidence, d
}

func problemOf(data planted.Data) sample.Problem {
	return sample.Problem{Rows: data.Rows, Labels: data.Labels}
}

func distance(a, b []float64) float64 {
	most := 0.0
	for y, v := range a {
		most = max(most, math.Abs(v-b[y]))
	}
	return most
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
	prior := &shares.Prior{Shares: found, Evidence: evidence}
	lower, upper := prior.Interval(d.job, shares.Options{Times: 5, Level: 0.9})
	if slices.Max(lower) != 0 || slices.Min(upper) != 1 {
		t.Errorf("interval from %v to %v, though nothing is known", lower, upper)
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
				rows.Views = [][]float64{rows.Views[0], slices.Clone(rows.Views[1])}
				for at := 0; at < len(rows.Views[0]); at += 3 {
					change(rows.Views[1][at:at+3], rows.Views[0][at:at+3])
				}
			}
			found, _ := (&shares.Evidence{Scores: &scores, Predicted: e.Predicted}).Shares(job)
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

func TestScoresOfAViewSumToZero(t *testing.T) {
	data := planted.Classes(300, 60, 30, []float64{0.5, 0.3, 0.2}, 5)
	for _, unit := range []float64{1, -1} { // mixtures of words and of spheres
		p := problemOf(data)
		p.Rows = p.Rows.Scaled(unit)
		scores, _ := evidenceOf(t, p, 1)
		views := slices.Concat(scores.Held.Views, scores.Unlabeled.Views)
		if len(views) != 4 || len(scores.Held.Weight) != 30 || len(scores.Unlabeled.Weight) != 270 {
			t.Errorf("%d views, %d rows held out, %d not", len(views)/2, len(scores.Held.Weight), len(scores.Unlabeled.Weight))
		}
		for view := range slices.Chunk(slices.Concat(views...), 3) {
			if sum := view[0] + view[1] + view[2]; math.Abs(sum) > 1e-9*(1+math.Abs(view[0])) {
				t.Fatalf("scores %v", view)
			}
		}
	}
}

// Shares of unlabeled rows are found from labels that are picked equally; those of random labels stay near theirs, and
// look as if they were. Intervals hold the shares.
func TestSharesOfPlantedRowsAreFound(t *testing.T) {
	three := []float64{0.6, 0.3, 0.1}
	for _, c := range []struct {
		labels        string
		rows, labeled int
		shares        []float64
		seeds, times  int     // the second for an interval
		apart         float64 // in the mean, at most
	}{
		{"picked", 3000, 240, []float64{0.1, 0.9}, 1, 0, 0.05}, {"picked", 3000, 240, []float64{0.5, 0.3, 0.2}, 1, 0, 0.05},
		{"picked", 1060, 60, three, 10, 30, 0.1}, {"random", 2000, 60, []float64{0.75, 0.15, 0.1}, 5, 0, 0.05},
		{"picked", 1500, 16, []float64{0.75, 0.25}, 10, 0, 0.17}, // labels alone: 0.25; without the mixture 0.19
	} {
		apart, random, inside, wide, of := 0.0, 0, 0, 0.0, len(c.shares)*c.seeds
		for seed := range uint64(c.seeds) {
			data, want := planted.Classes(c.rows, 120+2*c.labeled%240, c.labeled, c.shares, 200+seed), c.shares
			if c.labels == "random" {
				data = planted.Classes(c.rows, 240, 0, c.shares, 5+seed)
				copy(data.Labels, data.Truth[:c.labeled])
			}
			e, d := evidenceOf(t, problemOf(data), 1)
			found, drawn := e.Shares(d.job)
			if drawn > 0.5 {
				random++
			}
			if c.labels == "random" {
				want = shares.OfLabels(d.sample)
			}
			apart += distance(found, want) / float64(c.seeds)
			if c.times > 0 {
				prior := &shares.Prior{Shares: found, Evidence: e}
				lower, upper := prior.Interval(d.job, shares.Options{Times: c.times, Level: 0.9})
				for y, share := range want {
					if wide += (upper[y] - lower[y]) / float64(of); lower[y] <= share && share <= upper[y] {
						inside++
					}
				}
			}
		}
		if apart > c.apart || c.labels == "random" != (random > c.seeds/2) {
			t.Errorf("%v: %v apart on average; %d of %d times labels look drawn at random", c, apart, random, c.seeds)
		}
		if c.times > 0 && (inside < of*5/6 || wide > 0.35) {
			t.Errorf("%v: %d of %d shares are inside the interval, whose mean width is %v", c, inside, of, wide)
		}
	}
}

// Shares of more rows than are looked at have the same bits on any number of threads, with their intervals, and do not
// depend on the order of rows; with ten labels a class, which all begin at the same fold, they go with their classes.
func TestSharesDoNotDependOnOrdersAndThreads(t *testing.T) {
	worktest.Processors(t, 3)
	p := problemOf(planted.Classes(7000, 60, 30, []float64{0.6, 0.3, 0.1}, 1))
	order := numbers(len(p.Labels))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	moved := partOf(t, p, order)
	for i, y := range moved.Labels {
		if y >= 0 {
			moved.Labels[i] = (y + 1) % 3
		}
	}
	found := func(p sample.Problem, threads int) [][]float64 {
		evidence, d := evidenceOf(t, p, threads)
		shared, _ := evidence.Shares(d.job)
		prior := &shares.Prior{Shares: shared, Evidence: evidence}
		lower, upper := prior.Interval(d.job, shares.Options{Times: 5, Level: 0.9, Seed: 3})
		return [][]float64{shared, lower, upper}
	}
	want := found(p, 1)
	if got := found(p, 3); !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
		t.Errorf("%v on three threads, %v on one", got, want)
	}
	got := found(moved, 1)[0]
	if back := []float64{got[1], got[2], got[0]}; distance(back, want[0]) > 1e-4 {
		t.Errorf("%v, and %v in another order, with the classes permuted", want[0], back)
	}
}
