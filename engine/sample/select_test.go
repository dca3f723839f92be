package sample_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// sampleOf makes a problem ready.
func sampleOf(t *testing.T, p sample.Problem) *sample.Sample {
	t.Helper()
	o := plainOptions()
	s, err := sample.New(p, o.OfSample(), work.NewJob(1, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// partOf are the rows of a part of a problem; nil: there is none.
func partOf(t *testing.T, p sample.Problem) []int32 {
	t.Helper()
	part, ok := sampleOf(t, p).Part(8, 0)
	if !ok {
		return nil
	}
	return part.Rows
}

// A part has every labeled row, and about one of eight unlabeled ones with its weight. Its own parts are among them.
func TestAPartIsOneOfEight(t *testing.T) {
	data := planted.Topics(4000, 250, 16, 0.35, 1)
	weights := make([]float64, len(data.Labels))
	for i := range weights {
		weights[i] = 0.5 + float64(i)
	}
	s := sampleOf(t, sample.Problem{Rows: data.Rows, Labels: data.Labels, Weights: weights})
	part, ok := s.Part(8, 0)
	few, err := s.Select(part, s.Options, s.Job)
	if !ok || err != nil || few.Pass != s.Pass {
		t.Fatalf("%v %v, a pass of %v for %v", ok, err, few.Pass, s.Pass)
	}
	if got := len(few.Unlabeled); len(few.Labeled) != 16 || got < 450 || got > 550 {
		t.Errorf("%d labeled and %d unlabeled rows", len(few.Labeled), got)
	}
	for k, i := range few.Source {
		if few.Labels[k] != data.Labels[i] {
			t.Errorf("row %d has label %d", i, few.Labels[k])
		}
	}
	for k, place := range few.Unlabeled {
		want := weights[few.Source[place]] / weights[s.Labeled[0]] * s.LabeledRows[0]
		if got := few.UnlabeledRows[k]; math.Abs(got-want) > 1e-12*want {
			t.Errorf("row %d has weight %v, %v in the whole", place, got, want)
		}
	}
	of, _ := s.Part(64, 0)
	for _, i := range of.Rows {
		if !slices.Contains(part.Rows, i) {
			t.Errorf("row %d is in one of 64 and not in one of 8", i)
		}
	}
}

// A subsample has the same rows in another order, times a factor, and as many copies as their weights.
func TestASubsampleKnowsRowsByWhatTheyAre(t *testing.T) {
	data := planted.Topics(4000, 250, 16, 0.35, 1)
	want := partOf(t, sample.Problem{Rows: data.Rows, Labels: data.Labels})
	scaled := partOf(t, sample.Problem{Rows: data.Rows.Scaled(0.37), Labels: data.Labels})
	if !slices.Equal(scaled, want) {
		t.Errorf("%d rows, of scaled ones %d", len(want), len(scaled))
	}
	order, labels := rand.New(rand.NewPCG(1, 1)).Perm(4000), make([]int32, 4000)
	list := make([]int32, 4000)
	for k, i := range order {
		list[k], labels[k] = int32(i), data.Labels[i]
	}
	var found []int32
	for _, k := range partOf(t, sample.Problem{Rows: data.Rows.Selected(work.NewPool(1), list), Labels: labels}) {
		found = append(found, list[k])
	}
	slices.Sort(found)
	sorted := slices.Sorted(slices.Values(want))
	if !slices.Equal(found, sorted) {
		t.Errorf("%d rows, in another order %d", len(want), len(found))
	}
	weights, copies := make([]float64, 4000), []int32(nil)
	copied := sample.Problem{}
	for i := range weights {
		weights[i] = float64(1 + i%3)
		for range 1 + i%3 {
			copies, copied.Labels = append(copies, int32(i)), append(copied.Labels, data.Labels[i])
		}
	}
	copied.Rows = data.Rows.Selected(work.NewPool(1), copies)
	weighted := sample.Problem{Rows: data.Rows, Labels: data.Labels, Weights: weights}
	total := 0.0
	for _, i := range partOf(t, weighted) {
		total += weights[i]
	}
	if copies := partOf(t, copied); float64(len(copies)) != total {
		t.Errorf("%v copies by weights, %d as rows", total, len(copies))
	}
}

// Keys do not depend on the order of rows or columns, also where all columns have the same extreme values, and a weight
// gives the same keys as copies.
func TestKeysAreTheSameInAnyOrder(t *testing.T) {
	const n, d = 300, 60
	random := rand.New(rand.NewPCG(1, 1))
	has := make([][]bool, n)
	for i := range has {
		for range d {
			has[i] = append(has[i], random.IntN(4) == 0)
		}
	}
	keys := func(place, feature []int, weight func(i int) int, copied bool) []uint64 { // by the rows' numbers
		p, of := sample.Problem{Labels: make([]int32, 0, n)}, []int(nil)
		for _, i := range place {
			times := 1
			if copied {
				times = weight(i)
			} else {
				p.Weights = append(p.Weights, 0.3*float64(weight(i)))
			}
			of = append(of, slices.Repeat([]int{i}, times)...)
		}
		p.Labels = slices.Repeat([]int32{-1}, len(of))
		p.Labels[0], p.Labels[len(of)-1] = 0, 1
		p.Rows = planted.Sparse(len(of), d, func(k int, add func(feature int, value float64)) {
			for j, own := range feature {
				if has[of[k]][own] {
					add(j, 1)
				}
			}
		})
		found, s := make([]uint64, n), sampleOf(t, p)
		for k, key := range s.Keys(s.Job) {
			found[of[k]] = key
		}
		return found
	}
	inOrder := func(n int) []int { return slices.Sorted(slices.Values(random.Perm(n))) }
	one, some := func(int) int { return 1 }, func(i int) int { return 1 + i%3 }
	for name, weight := range map[string]func(i int) int{"equal weights": one, "copies": some} {
		want := keys(inOrder(n), inOrder(d), weight, false)
		if !slices.Equal(keys(random.Perm(n), random.Perm(d), weight, true), want) {
			t.Errorf("%s: other keys in another order", name)
		}
		if slices.Sort(want); len(slices.Compact(want)) < n {
			t.Errorf("%s: rows have keys in common", name)
		}
	}
}

// Rows without zeros differ in few features that are large: in none, if one feature is the largest of every row, or all
// are alike. They have keys of their own, the same ones as sparse rows, in another order and of another scale.
func TestFullRowsHaveKeysOfTheirOwn(t *testing.T) {
	const n = 500
	random := rand.New(rand.NewPCG(1, 1))
	largeFirst := func(k int, factor float64) float64 {
		if k > 0 {
			return 1
		}
		return factor
	}
	for name, of := range map[string]struct {
		features int
		value    func(row, col int) float64
	}{
		"a feature that is always the largest": {384, func(_, col int) float64 {
			if col == 7 {
				return 9 + random.Float64()
			}
			return random.NormFloat64()
		}},
		"features between 100 and 101":          {40, func(int, int) float64 { return 100 + random.Float64() }},
		"an unscaled column":                    {50, func(_, col int) float64 { return random.Float64() * largeFirst(col, 1e3) }},
		"an unscaled row":                       {50, func(row, _ int) float64 { return (1 + random.Float64()) * largeFirst(row, 1e7) }},
		"few features, and a row that is large": {3, func(row, _ int) float64 { return random.NormFloat64() * largeFirst(row, 1e7) }},
	} {
		values := make([]float64, n*of.features)
		for k := range values {
			values[k] = of.value(k/of.features, k%of.features)
		}
		order := random.Perm(of.features)
		keys := func(factor float64, sparse bool) []uint64 {
			changed := make([]float64, len(values))
			for k, v := range values {
				changed[k/of.features*of.features+order[k%of.features]] = factor * v
			}
			if factor == 1 {
				copy(changed, values)
			}
			m, err := rows.NewDense(n, of.features, of.features, changed)
			if err != nil {
				t.Fatal(err)
			}
			if sparse {
				m = planted.Sparse(n, of.features, func(i int, add func(feature int, value float64)) {
					for j, v := range changed[i*of.features : (i+1)*of.features] {
						add(j, v)
					}
				})
			}
			p := sample.Problem{Rows: m, Labels: slices.Repeat([]int32{-1}, n)}
			p.Labels[0], p.Labels[n-1] = 0, 1
			s := sampleOf(t, p)
			return s.Keys(s.Job)
		}
		want := keys(1, false)
		if !slices.Equal(keys(1, true), want) || !slices.Equal(keys(7, false), want) || !slices.Equal(keys(0x1p-30, true), want) {
			t.Errorf("%s: other keys of sparse rows, in another order or of another scale", name)
		}
		slices.Sort(want)
		if own := len(slices.Compact(want)); own < n*99/100 {
			t.Errorf("%s: %d keys of %d rows", name, own, n)
		}
	}
}

// Where most rows are equal, no part of them is like all: there is none.
func TestEqualRowsHaveNoPart(t *testing.T) {
	data := planted.Topics(4000, 250, 16, 0.35, 1)
	list := make([]int32, 4000)
	for i := range list {
		list[i] = int32(i)
		if i > 1000 {
			list[i] = 1000
		}
	}
	if part := partOf(t, sample.Problem{Rows: data.Rows.Selected(work.NewPool(1), list), Labels: data.Labels}); part != nil {
		t.Errorf("a part of %d rows", len(part))
	}
}

// Of rows with many copies each a part is drawn, and not all or none.
func TestOfEqualRowsAPartIsDrawn(t *testing.T) {
	job, data := work.NewJob(1, nil), planted.Classes(20, 16, 4, []float64{0.5, 0.5}, 4)
	const copies = 1000
	list, labels := []int32(nil), []int32(nil)
	for i, label := range data.Labels {
		list, labels = append(list, slices.Repeat([]int32{int32(i)}, copies)...), append(labels,
			slices.Repeat([]int32{label}, copies)...)
	}
	s, err := sample.New(sample.Problem{Rows: data.Rows.Selected(job.Pool, list), Labels: labels}, sample.Options{UnlabeledWeight: 1}, job)
	if err != nil {
		t.Fatal(err)
	}
	drawnOf := make([]int, len(data.Labels))
	for _, place := range s.Drawn(4000) { // of 16 times as many as copies
		drawnOf[s.Unlabeled[place]/copies]++
	}
	for i, n := range drawnOf {
		if data.Labels[i] < 0 && (n < 240 || n > 260) {
			t.Errorf("%d of %d copies of row %d are drawn, should be 250", n, copies, i)
		}
	}
}

// Few rows have a part, too: their numbers vary by chance.
func TestFewRowsHaveAPart(t *testing.T) {
	for n := 20; n < 60; n++ {
		data := planted.Topics(n, 60, 8, 0.35, uint64(n))
		if _, ok := sampleOf(t, sample.Problem{Rows: data.Rows, Labels: data.Labels}).Part(3, 0); !ok {
			t.Errorf("%d rows have no third", n)
		}
	}
}
