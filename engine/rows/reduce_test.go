package rows

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// onTwins runs a part on each of two machines.
func onTwins(t *testing.T, part func(rank int, job *work.Job)) {
	t.Helper()
	ranks := worktest.NewRanks(2)
	ranks.Run(t, func(rank int) {
		job := work.NewJob(2, nil)
		job.Group = &work.Group{Rank: rank, Size: 2, Sum: func(v []float64) error { return ranks.Sum(rank, v) }}
		part(rank, job)
	})
}

// manyRows are large enough to be cut into blocks: sparse, packed, dense.
func manyRows(t *testing.T) map[string]*Matrix {
	t.Helper()
	indptr, indices, values, _ := messy(3000, 100, 30, 3)
	sparse, err := New(100, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	packed, _ := sparse.Packed(work.NewJob(1, nil))
	dense := denseRows(t, 1500, 100)
	return map[string]*Matrix{"sparse": sparse, "packed": packed, "dense64": dense["float64"], "dense32": dense["float32"]}
}

// sumsOverRows are those of all products that sum over rows, each beginning with one and the same vector.
func sumsOverRows(m *Matrix, job *work.Job, classes int) []float64 {
	shape := panel.Shape{Features: m.Cols() + 1, Classes: classes}
	wide, q := make([]float64, shape.Len()), make([]float64, m.Rows()*shape.Stride())
	for k := range wide {
		wide[k] = math.Cos(float64(k))
	}
	for k := range q {
		q[k] = math.Sin(float64(k))
	}
	begin := func() []float64 { return slices.Clone(wide[:m.Cols()+1]) }
	transposed, gram, all := begin(), begin(), make([]float64, m.Cols())
	m.AddTransposedOn(job, m.All(), transposed, q[:m.Rows()])
	m.TransposedTimes(job, all, q[:m.Rows()])
	total := m.AddGram(job, m.All(), gram, q[:m.Rows()], wide[:m.Cols()], 0.3)
	m.AddTransposedPanels(job, m.All(), wide, q, shape)
	return slices.Concat(transposed, all, gram, []float64{total}, wide)
}

// begun are the vectors that sumsOverRows begins with.
func begun(m *Matrix, classes int) []float64 {
	none := &Matrix{cols: m.cols, scale: 0, kernel: m.kernel, indptr: m.indptr}
	none.all = none.Subset(nil)
	return sumsOverRows(none, work.NewJob(1, nil), classes)
}

// onAll are the rows where every machine has them.
func onAll(m *Matrix) *Matrix {
	view := *m
	view.everywhere = true
	return &view
}

// Every sum over rows is that of all machines, but what it is added to is not; rows that all machines have count once.
func TestSumsOverRowsReduce(t *testing.T) {
	for name, m := range manyRows(t) {
		for _, classes := range []int{1, 3, 11, 20} {
			one, before := sumsOverRows(m, work.NewJob(2, nil), classes), begun(m, classes)
			var two, everywhere [2][]float64
			onTwins(t, func(rank int, job *work.Job) {
				two[rank] = sumsOverRows(m, job, classes)
				everywhere[rank] = sumsOverRows(onAll(m).Scaled(1), job, classes)
			})
			if !slices.Equal(everywhere[0], one) {
				t.Errorf("%s, %d classes: rows that all machines have count more than once", name, classes)
			}
			for k := range one {
				one[k] += one[k] - before[k]
			}
			near(t, fmt.Sprintf("%s, %d classes", name, classes), two[1], one)
		}
	}
}

// Two products with one matrix at a time have the bits of one after the other.
func TestProductsAtATime(t *testing.T) {
	worktest.Processors(t, 4)
	for name, m := range manyRows(t) {
		scaled := m.Scaled(0.5)
		want := [2][]float64{sumsOverRows(m, work.NewJob(1, nil), 11), sumsOverRows(scaled, work.NewJob(1, nil), 3)}
		var running sync.WaitGroup
		shared := work.NewJob(2, nil)
		for k, job := range []*work.Job{work.NewJob(2, nil), work.NewJob(2, nil), shared, shared.Silent()} {
			running.Go(func() {
				for range 5 {
					got := sumsOverRows([]*Matrix{m, scaled}[k%2], job, []int{11, 3}[k%2])
					if !slices.Equal(got, want[k%2]) {
						t.Errorf("%s: job %d has other bits", name, k)
					}
				}
			})
		}
		running.Wait()
	}
}

// Features are numbered by how often they occur on all machines; rows are copied to all.
func TestPackedCountsTheRowsOfAllMachines(t *testing.T) {
	parts := [2]struct {
		indptr, indices []int32
		values          []float64
	}{{[]int32{0, 2, 3}, []int32{0, 2, 2}, []float64{1, 2, 3}}, {[]int32{0, 1, 2, 3}, []int32{1, 1, 1}, []float64{4, 5, 6}}}
	onTwins(t, func(rank int, job *work.Job) {
		m, err := New(4, parts[rank].indptr, parts[rank].indices, parts[rank].values)
		if err != nil {
			t.Error(err)
			return
		}
		if _, old := m.Packed(job); !slices.Equal(old, []int32{1, 2, 0}) {
			t.Errorf("features %v", old)
		}
		all, first := m.Scaled(2).Gathered(job, []int32{1}[rank:])
		if all.Rows() != 1 || first != rank || all.RowTimes(0, []float64{0, 0, 1, 0}) != 6 {
			t.Errorf("%d rows, of rank %d from %d on", all.Rows(), rank, first)
		}
	})
}

// Where most of many features occur and have many non-zeros they keep their numbers, on all machines, whatever the type
// of these; this takes memory for numbers of eight bytes alone.
func TestManyFeaturesKeepTheirNumbers(t *testing.T) {
	const many = 70_000
	for _, of := range []struct {
		cols, used int32 // used: by the first machine, each so many times
		times      int
		wide       bool // numbers of eight bytes on the first machine
		keeps      bool
		bytes      float64 // of a number on the first machine
	}{{many, many, 8, false, true, 0}, {many, many, 8, true, true, 4}, {many, many - 2, 9, false, true, 0},
		{many, many, 7, false, false, 4}, {many + 20_000, many, 16, false, false, 4}, {twoBytes, twoBytes, 8, false, false, 2},
		{many, 5, 1, false, false, 4}} {
		onTwins(t, func(rank int, job *work.Job) {
			indptr, narrow, wide, values := []int64{0}, []int32{}, []int64{}, []float64{}
			for range of.times {
				for k := range of.used {
					narrow, wide, values = append(narrow, k), append(wide, int64(k)), append(values, 1)
				}
				indptr = append(indptr, int64(len(values)))
			}
			m, err := New(int(of.cols), indptr, narrow, values)
			switch {
			case rank == 1:
				m, err = New(int(of.cols), []int64{0, 1}, []int32{of.cols - 1}, []float64{3})
			case of.wide:
				m, err = New(int(of.cols), indptr, wide, values)
			}
			if err != nil {
				t.Error(err)
				return
			}
			kept, old := m.Packed(job)
			ok := kept.Cols() == int(of.cols) && slices.IsSorted(old)
			if ok != of.keeps || len(kept.Absent()) != max(0, int(of.cols-of.used)-1) && ok {
				t.Errorf("%+v, machine %d: kept %v, without %v", of, rank, ok, kept.Absent())
			}
			p := make([]float64, of.cols)
			p[of.cols-1] = 1
			if ok && kept.RowTimes(0, p) != m.RowTimes(0, p) {
				t.Errorf("%+v, machine %d: another product", of, rank)
			}
			if bytes := m.PackedBytes() / float64(m.NonZeros()); rank == 0 && bytes != of.bytes {
				t.Errorf("%+v: %v bytes", of, bytes)
			}
		})
	}
}
