package shares

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// sampleOf are all rows of the data, of weight 1.
func sampleOf(data planted.Data, classes int) *sample.Sample {
	s, err := sample.New(sample.Problem{Rows: data.Rows, Labels: data.Labels, Classes: classes},
		sample.Options{FitIntercept: true, UnlabeledWeight: 1}, work.NewJob(1, nil))
	if err != nil {
		panic(err)
	}
	return s
}

func estimate(s *sample.Sample, threads int) (shares []float64, drawn float64) {
	job := work.NewJob(threads, nil)
	return Score(s, job).Shares(job)
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
		found, drawn := estimate(sampleOf(data, len(want)), 1)
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
		s := sampleOf(data, 3)
		found, drawn := estimate(s, 1)
		apart += distance(found, crossfit.LabelShares(s, work.NewJob(1, nil))) / 10
		if drawn > 0.5 {
			random++
		}
	}
	if apart > 0.05 || random < 8 {
		t.Errorf("%v from the shares of the labels on average; %d of 10 times they look drawn at random", apart, random)
	}
}

func TestOneLabelOfEachClassGivesTheirShares(t *testing.T) {
	s := sampleOf(planted.Classes(300, 60, 3, []float64{0.6, 0.3, 0.1}, 1), 3)
	s.LabeledRows[1] = 2
	if split := crossfit.NewSplit(s, work.NewJob(1, nil), 300); split.Folds != 0 {
		t.Errorf("%d folds", split.Folds)
	}
	evidence := Score(s, work.NewJob(1, nil))
	found, _ := evidence.Shares(work.NewJob(1, nil))
	if !slices.Equal(found, []float64{0.25, 0.5, 0.25}) {
		t.Errorf("%v found", found)
	}
	lower, upper := evidence.Interval(work.NewJob(1, nil), found, Bootstrap{Times: 5, Level: 0.9})
	if slices.Max(lower) != 0 || slices.Min(upper) != 1 {
		t.Errorf("interval from %v to %v, though nothing is known", lower, upper)
	}
}

func TestAWeightIsARowTwice(t *testing.T) {
	s := sampleOf(planted.Classes(800, 120, 60, []float64{0.6, 0.3, 0.1}, 5), 3)
	copied := *s
	twice := &copied
	twice.Labeled = append(slices.Clone(s.Labeled), s.Labeled[:20]...)
	twice.Class = append(slices.Clone(s.Class), s.Class[:20]...)
	twice.LabeledRows = slices.Repeat([]float64{1}, len(twice.Labeled))
	twice.Unlabeled = append(slices.Clone(s.Unlabeled), s.Unlabeled[:300]...)
	twice.UnlabeledRows = slices.Repeat([]float64{1}, len(twice.Unlabeled))
	for k := range 20 {
		s.LabeledRows[k] = 2
	}
	for k := range 300 {
		s.UnlabeledRows[k] = 2
	}
	weighted, _ := estimate(s, 1)
	repeated, _ := estimate(twice, 1)
	if distance(weighted, repeated) > 1e-5 {
		t.Errorf("%v with weights, %v with rows twice", weighted, repeated)
	}
}

func TestSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 3)
	s := sampleOf(planted.Classes(12000, 240, 60, []float64{0.6, 0.3, 0.1}, 6), 3)
	var want [][]float64
	for threads := 1; threads <= 3; threads++ {
		job := work.NewJob(threads, nil)
		evidence := Score(s, job)
		shares, _ := evidence.Shares(job)
		lower, upper := evidence.Interval(job, shares, Bootstrap{Times: 5, Level: 0.9, Seed: 3})
		got := [][]float64{shares, lower, upper}
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
	s := sampleOf(planted.Classes(1000, 120, 30, []float64{0.6, 0.3, 0.1}, 7), 3)
	want, _ := estimate(s, 1)
	for k, y := range s.Class {
		s.Class[k] = (y + 1) % 3
	}
	got, _ := estimate(s, 1)
	if moved := []float64{got[1], got[2], got[0]}; distance(moved, want) > 1e-5 {
		t.Errorf("%v, and %v with the classes permuted", want, moved)
	}
}

// randomCalibration is one of random scores, with its units.
func randomCalibration(random *rand.Rand, n, classes int) *calibration {
	rows, class := crossfit.Scored{}, make([]int32, n)
	for i := range n {
		scores := make([]float64, 2*classes)
		for y := range scores {
			scores[y] = random.NormFloat64()
		}
		rows.Scores, rows.Weight = append(rows.Scores, scores...), append(rows.Weight, random.ExpFloat64())
		class[i] = int32(random.IntN(classes))
	}
	return calibrate(work.NewJob(1, nil), rows, class, biases(random, classes))
}

func TestDerivativesOfTheCalibration(t *testing.T) {
	const h = 1e-5
	random := rand.New(rand.NewPCG(1, 2))
	c := randomCalibration(random, 30, 3)
	dim := len(c.point)
	point, step, gradient, other := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
	for range 5 {
		for k := range step {
			point[k], step[k] = random.NormFloat64(), random.NormFloat64()
		}
		c.At(point, gradient)
		at := func(t float64) float64 {
			moved := slices.Clone(point)
			vector.Add(moved, t, step)
			return c.At(moved, other)
		}
		if want := (at(h) - at(-h)) / (2 * h); math.Abs(vector.Dot(gradient, step)-want) > 1e-7 {
			t.Errorf("slope %v, by differences %v", vector.Dot(gradient, step), want)
		}
	}
}

// Views that are kept end where the gradient is 0.
func TestTheCalibrationIsAMinimum(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 2))
	for range 20 {
		c := randomCalibration(random, 60, 4)
		scaled, gradient := make([]float64, len(c.point)), make([]float64, len(c.point))
		for k, v := range c.point {
			scaled[k] = v * math.Sqrt(c.penalty[k])
		}
		value := c.At(scaled, gradient)
		if gap := vector.Dot(gradient, gradient) / 2; gap > 2*calibrationTolerance*value {
			t.Errorf("the gap is at most %v of %v", gap, value)
		}
	}
}

// The objective in the header of shares is recomputed; no small move of weight between two classes makes it larger.
func TestEMEndsAtAStationaryPoint(t *testing.T) {
	job := work.NewJob(1, nil)
	e := Score(sampleOf(planted.Classes(800, 120, 60, []float64{0.6, 0.3, 0.1}, 8), 3), job)
	s, a := e.shift(job, make([]float64, 3)), []float64{0.7, 0.5, 0.3}
	ratios := s.ratios
	s.known = 60
	found := s.maximize(job, a, e.labelShares())
	objective := func(phi []float64) float64 {
		value := 0.0
		for i := range e.Unlabeled.Weight {
			value += 60 * math.Log(vector.Dot(phi, ratios[3*i:3*i+3])) / float64(len(e.Unlabeled.Weight))
		}
		for y, rows := range a {
			value += rows * math.Log(phi[y])
		}
		return value
	}
	const h = 1e-4
	for y := range 3 {
		move := func(t float64) float64 {
			phi := slices.Clone(found)
			phi[y] += t
			phi[(y+1)%3] -= t
			return objective(phi)
		}
		if slope := (move(h) - move(-h)) / (2 * h); math.Abs(slope) > 0.01 { // of about 60 from one class
			t.Errorf("slope %v from class %d to the next at %v", slope, y, found)
		}
	}
}

// Shrinkage is recomputed here, from ratios of two rows of three classes.
func TestSharesAreShrunkToThoseOfTheLabels(t *testing.T) {
	s := &shift{Evidence: &Evidence{&crossfit.Scores{Classes: 3, Unlabeled: crossfit.Scored{Weight: []float64{3, 1}}}},
		ratios: []float64{2, 1, 0.5, 0.2, 0.4, 3}, labels: []float64{0.3, 0.3, 0.4}, known: 40}
	for _, found := range [][]float64{{0.5, 0.3, 0.2}, {0.8, 0.1, 0.1}, {0.3, 0.3, 0.4}, {0.31, 0.3, 0.39}, {0.1, 0.1, 0.8}} {
		at := func(p []float64) float64 {
			return 0.75*math.Log(2*p[0]+p[1]+0.5*p[2]) + 0.25*math.Log(0.2*p[0]+0.4*p[1]+3*p[2])
		}
		kept := 0.0
		if x := 2 * 40 * (at(found) - at(s.labels)); x > 0.2 {
			kept = 1 - 0.2/x
		}
		shrunk := slices.Clone(found)
		s.shrink(work.NewJob(1, nil), shrunk, 0)
		for y, share := range shrunk {
			if want := kept*found[y] + (1-kept)*s.labels[y]; math.Abs(share-want) > 1e-12 {
				t.Errorf("%v becomes %v, want share %d %v", found, shrunk, y, want)
			}
		}
	}
}

// Where labels are picked evenly from even classes, shares end nearer to theirs than EM leaves them: the counterpart of
// TestSharesOfLabelsPickedEquallyAreFound, which bounds how far they may go where the classes are not even.
func TestNoiseAroundTheSharesOfTheLabelsIsShrunk(t *testing.T) {
	job, before, after := work.NewJob(1, nil), 0.0, 0.0
	for seed := range uint64(10) {
		e := Score(sampleOf(planted.Classes(800, 120, 40, []float64{0.5, 0.5}, seed), 2), job)
		found, _ := e.shift(job, make([]float64, 2)).find(job, e.labelShares())
		shrunk, _ := e.Shares(job)
		before, after = before+math.Abs(found[0]-0.5), after+math.Abs(shrunk[0]-0.5)
	}
	if after >= before {
		t.Errorf("%.3f away on average, %.3f before", after/10, before/10)
	}
}

func TestLabelsThatLookDrawnAtRandom(t *testing.T) {
	for _, test := range []struct {
		labels, found []float64
		low, high     float64
	}{
		{[]float64{20, 20, 20}, []float64{0.8, 0.15, 0.05}, 0, 1e-6}, // as many of each, and the rows are not
		{[]float64{48, 9, 3}, []float64{0.8, 0.15, 0.05}, 0.9, 1},
		{[]float64{800, 150, 50}, []float64{0.8, 0.15, 0.05}, 0.98, 1},
		{[]float64{3, 9, 48}, []float64{0.8, 0.15, 0.05}, 0, 1e-6},   // neither picked equally nor drawn
		{[]float64{20, 20, 20}, []float64{0.34, 0.33, 0.33}, 0, 0.1}, // drawn labels would hardly be so equal
		{[]float64{1, 1}, []float64{0.5, 0.5}, 0.1, 0.5},             // two labels say next to nothing
	} {
		if got := atRandom(test.labels, test.found); got < test.low || got > test.high {
			t.Errorf("labels %v of shares %v were drawn with probability %v", test.labels, test.found, got)
		}
	}
}

func TestIntervalsHoldTheShares(t *testing.T) {
	want, inside, wide := []float64{0.6, 0.3, 0.1}, 0, 0.0
	for seed := range uint64(20) {
		job := work.NewJob(2, nil)
		e := Score(sampleOf(planted.Classes(1060, 240, 60, want, 100+seed), 3), job)
		found, _ := e.Shares(job)
		lower, upper := e.Interval(job, found, Bootstrap{Times: 30, Level: 0.9})
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
		found, _ := estimate(sampleOf(planted.Classes(1500, 120, 16, want, 200+seed), 2), 1)
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
		e := Score(sampleOf(planted.Classes(1500, 120, 90, []float64{0.6, 0.3, 0.1}, 9), 3), job)
		alone := func(change func(mixture, linear []float64)) []float64 {
			scores := *e.Scores
			for _, rows := range []*crossfit.Scored{&scores.Held, &scores.Unlabeled} {
				rows.Scores = slices.Clone(rows.Scores)
				for row := range slices.Chunk(rows.Scores, 6) {
					change(row[3:], row[:3])
				}
			}
			shares, _ := (&Evidence{&scores}).Shares(job)
			return shares
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
	want, _ := estimate(sampleOf(data, 3), 1)
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(data.Labels))
	list, labels := make([]int32, len(order)), make([]int32, len(order))
	for k, i := range order {
		list[k], labels[k] = int32(i), data.Labels[i]
	}
	data.Rows, data.Labels = data.Rows.Selected(work.NewPool(1), list), labels
	if got, _ := estimate(sampleOf(data, 3), 1); distance(got, want) > 1e-4 {
		t.Errorf("%v, in another order %v", want, got)
	}
}
