package shares

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// drawnEvidence has scores of two views, normal around 1 for a row's class and around 0 for the others, for so many
// labeled and unlabeled rows of each class; the labels' classifier predicts the shares of the labels.
func drawnEvidence(labeled, unlabeled []int, seed uint64) *Evidence {
	random := rand.New(rand.NewPCG(seed, 5))
	e := &Evidence{Scores: &crossfit.Scores{Classes: len(labeled)}}
	e.Held.Views, e.Unlabeled.Views = make([][]float64, 2), make([][]float64, 2)
	draw := func(rows *crossfit.Scored, class, number int) {
		for range number {
			for at := range 2 * len(labeled) {
				score := random.NormFloat64()
				if at%len(labeled) == class {
					score++
				}
				rows.Views[at/len(labeled)] = append(rows.Views[at/len(labeled)], score)
			}
			rows.Weight = append(rows.Weight, 1)
		}
	}
	for y := range labeled {
		draw(&e.Held, y, labeled[y])
		draw(&e.Unlabeled, y, unlabeled[y])
		e.Class = append(e.Class, slices.Repeat([]int32{int32(y)}, labeled[y])...)
		e.Totals = append(e.Totals, float64(labeled[y]))
	}
	e.Predicted = e.labelShares()
	return e
}

// randomCalibration is one of random scores, with its units.
func randomCalibration(random *rand.Rand, n, classes int) *calibration {
	rows, class := crossfit.Scored{Views: make([][]float64, 2)}, make([]int32, n)
	for i := range n {
		for at := range 2 * classes {
			rows.Views[at/classes] = append(rows.Views[at/classes], random.NormFloat64())
		}
		rows.Weight = append(rows.Weight, random.ExpFloat64())
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
	e := drawnEvidence([]int{20, 20, 20}, []int{600, 300, 100}, 8)
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
	rows := &crossfit.Scores{Classes: 3, Unlabeled: crossfit.Scored{Weight: []float64{3, 1}}}
	s := &shift{Evidence: &Evidence{Scores: rows},
		ratios: []float64{2, 1, 0.5, 0.2, 0.4, 3}, expected: []float64{0.3, 0.3, 0.4}, known: 40}
	for _, found := range [][]float64{{0.5, 0.3, 0.2}, {0.8, 0.1, 0.1}, {0.3, 0.3, 0.4}, {0.31, 0.3, 0.39}, {0.1, 0.1, 0.8}} {
		at := func(p []float64) float64 {
			return 0.75*math.Log(2*p[0]+p[1]+0.5*p[2]) + 0.25*math.Log(0.2*p[0]+0.4*p[1]+3*p[2])
		}
		kept := 0.0
		if x := 2 * 40 * (at(found) - at(s.expected)); x > 0.2 {
			kept = 1 - 0.2/x
		}
		shrunk := slices.Clone(found)
		s.shrink(work.NewJob(1, nil), shrunk, 0)
		for y, share := range shrunk {
			if want := kept*found[y] + (1-kept)*s.expected[y]; math.Abs(share-want) > 1e-12 {
				t.Errorf("%v becomes %v, want share %d %v", found, shrunk, y, want)
			}
		}
	}
}

// With two labels of each of four classes a distance of 0.1 / sqrt(2) is chance.
func TestSharesAreExpectedThatTheLabelsPredict(t *testing.T) {
	predicted := []float64{0.7, 0.1, 0.1, 0.1}
	for _, test := range []struct{ picked, first float64 }{ // the distance is 0.45
		{1, 0.25 + 0.45*(1-0.1/math.Sqrt2/0.45)}, {0.5, 0.25 + 0.45/2*(1-0.1/math.Sqrt2/0.45)}, {0, 0.25},
	} {
		e := &Evidence{Scores: &crossfit.Scores{Classes: 4, Totals: []float64{2, 2, 2, 2}}, Predicted: predicted}
		s := &shift{Evidence: e, expected: []float64{0.25, 0.25, 0.25, 0.25}}
		s.expect(test.picked)
		if other := (1 - test.first) / 3; math.Abs(s.expected[0]-test.first) > 1e-12 || math.Abs(s.expected[3]-other) > 1e-12 {
			t.Errorf("picked with probability %v: %v, want %v and others %v", test.picked, s.expected, test.first, other)
		}
	}
	for _, near := range [][]float64{{0.3, 0.2, 0.25, 0.25}, {0.25, 0.25, 0.25, 0.25}} {
		e := &Evidence{Scores: &crossfit.Scores{Classes: 4, Totals: []float64{2, 2, 2, 2}}, Predicted: near}
		s := &shift{Evidence: e, expected: []float64{0.25, 0.25, 0.25, 0.25}}
		if s.expect(1); s.expected[0] != 0.25 {
			t.Errorf("%v moves even shares to %v", near, s.expected)
		}
	}
}

// Only labels of which each class has the same number, or one more, may have been picked so.
func TestUnequalNumbersOfLabelsAreNotPickedEqually(t *testing.T) {
	for _, test := range []struct {
		labels []float64
		picked bool
	}{{[]float64{2, 2, 2}, true}, {[]float64{3, 2, 2}, true}, {[]float64{4, 2, 2}, false}} {
		if _, picked := atRandom(test.labels, []float64{0.8, 0.1, 0.1}); (picked > 0) != test.picked {
			t.Errorf("labels %v were picked equally with probability %v", test.labels, picked)
		}
	}
}

// Where labels are picked evenly from even classes, shares end nearer to theirs than EM leaves them: the counterpart of
// TestSharesOfLabelsPickedEquallyAreFound, which bounds how far they may go where the classes are not even.
func TestNoiseAroundTheSharesOfTheLabelsIsShrunk(t *testing.T) {
	job, before, after := work.NewJob(1, nil), 0.0, 0.0
	for seed := range uint64(10) {
		e := drawnEvidence([]int{20, 20}, []int{400, 400}, seed)
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
		if got, _ := atRandom(test.labels, test.found); got < test.low || got > test.high {
			t.Errorf("labels %v of shares %v were drawn with probability %v", test.labels, test.found, got)
		}
	}
}

func TestSharesThatAreNoneAreRefused(t *testing.T) {
	for want, shares := range map[string][]float64{
		"class_prior sums to 1.1":                                    {0.5, 0.6},
		"class_prior of class 0 is 1.5: it must lie between 0 and 1": {1.5, -0.5},
	} {
		s := &sample.Sample{Options: sample.Options{ClassPrior: sample.ClassPrior{Shares: shares}}}
		if _, err := given(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
