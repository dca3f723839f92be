package sample_test

import (
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

var shares = []float64{0.6, 0.4}

// partOf is a part of a problem.
func partOf(t *testing.T, p sample.Problem) *sample.Part {
	t.Helper()
	s := sampleOf(t, p)
	part, err := s.Coarse(s.Job, shares, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// A part has every labeled row, and about one of eight unlabeled ones with its weight.
func TestASubsampleIsOneOfEight(t *testing.T) {
	data := planted.Topics(4000, 250, 16, 0.35, 1)
	weights := make([]float64, len(data.Labels))
	for i := range weights {
		weights[i] = 0.5 + float64(i)
	}
	s := sampleOf(t, sample.Problem{Rows: data.Rows, Labels: data.Labels, Weights: weights})
	part, err := s.Coarse(s.Job, shares, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	few := part.Sample
	if given := few.Options.ClassPrior; given.Shares[1] != 0.4 || given.Rule != "auto" || !few.ChosenLabels || few.Pass != s.Pass {
		t.Errorf("prior %v, a pass of %v for %v", given, few.Pass, s.Pass)
	}
	if got := len(few.Unlabeled); len(few.Labeled) != 16 || got < 450 || got > 550 {
		t.Errorf("%d labeled and %d unlabeled rows", len(few.Labeled), got)
	}
	for k, i := range part.Rows {
		if part.Sample.Labels[k] != data.Labels[i] {
			t.Errorf("row %d has label %d", i, part.Sample.Labels[k])
		}
	}
	for k, place := range few.Unlabeled {
		if got, want := few.UnlabeledRows[k], weights[part.Rows[place]]; got != want {
			t.Errorf("row %d has weight %v, %v in the whole", place, got, want)
		}
	}
	again, err := few.Coarse(few.Job, shares, true, 0)
	if err != nil || again != nil && len(again.Sample.Unlabeled) > len(few.Unlabeled)/4 {
		t.Errorf("few of few: %v", err)
	}
}

// A subsample has the same rows in another order, times a factor, and as many copies as their weights.
func TestASubsampleKnowsRowsByWhatTheyAre(t *testing.T) {
	data := planted.Topics(4000, 250, 16, 0.35, 1)
	want := partOf(t, sample.Problem{Rows: data.Rows, Labels: data.Labels}).Rows
	scaled := partOf(t, sample.Problem{Rows: data.Rows.Scaled(0.37), Labels: data.Labels}).Rows
	if !slices.Equal(scaled, want) {
		t.Errorf("%d rows, of scaled ones %d", len(want), len(scaled))
	}
	order, labels := rand.New(rand.NewPCG(1, 1)).Perm(4000), make([]int32, 4000)
	list := make([]int32, 4000)
	for k, i := range order {
		list[k], labels[k] = int32(i), data.Labels[i]
	}
	var found []int32
	for _, k := range partOf(t, sample.Problem{Rows: data.Rows.Selected(work.NewPool(1), list), Labels: labels}).Rows {
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
	for _, i := range partOf(t, weighted).Rows {
		total += weights[i]
	}
	if copies := partOf(t, copied).Rows; float64(len(copies)) != total {
		t.Errorf("%v copies by weights, %d as rows", total, len(copies))
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
	s := sampleOf(t, sample.Problem{Rows: data.Rows.Selected(work.NewPool(1), list), Labels: data.Labels})
	if part, err := s.Coarse(s.Job, shares, true, 0); part != nil || err != nil {
		t.Errorf("a part of %d rows, %v", len(part.Rows), err)
	}
}

// Where one row is as long as all others together, no part has the unit of length of all: alpha would mean another
// strength there.
func TestOneLongRowHasNoPart(t *testing.T) {
	data := planted.Topics(4000, 250, 16, 0.35, 1)
	for _, long := range []int{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007} {
		indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
		for i := range data.Rows.Rows() {
			data.Rows.Row(i, func(col int, v float64) {
				if i == long {
					v *= 1000
				}
				indices, values = append(indices, int32(col)), append(values, v)
			})
			indptr = append(indptr, int64(len(indices)))
		}
		rows, err := rows.New(data.Rows.Cols(), indptr, indices, values)
		if err != nil {
			t.Fatal(err)
		}
		if part := partOf(t, sample.Problem{Rows: rows, Labels: data.Labels}); part != nil {
			t.Errorf("row %d is long: a part of %d rows", long, len(part.Rows))
		}
	}
}
