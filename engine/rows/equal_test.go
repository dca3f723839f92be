package rows

import (
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

// kinds are n rows, row i of kind i*i % number, sparse and dense.
func kinds(t *testing.T, n, number int) (sparse, dense *Matrix) {
	t.Helper()
	indptr, indices, values, all := []int64{0}, []int32(nil), []float64(nil), make([]float64, 3*n)
	for i := range n {
		v := float64(1 + i*i%number)
		indices, values = append(indices, int32(i*i%2), 2), append(values, v, 1/v)
		indptr = append(indptr, int64(len(indices)))
		all[3*i+i*i%2], all[3*i+2] = v, 1/v
	}
	sparse, err := New(3, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	if dense, err = NewDense(n, 3, 3, all); err != nil {
		t.Fatal(err)
	}
	return sparse, dense
}

func TestEqualRowsWithEqualLabelsHaveTheSameFirst(t *testing.T) {
	const n, number = manyEqual, 1000
	labels, want, known := make([]int32, n), make([]int32, n), map[[2]int]int32{}
	for i := range n {
		labels[i] = int32(i%3) - 1
		kind := [2]int{i * i % number, i % 3}
		if _, found := known[kind]; !found {
			known[kind] = int32(i)
		}
		want[i] = known[kind]
	}
	sparse, dense := kinds(t, n, number)
	for _, m := range []*Matrix{sparse, dense} {
		if got := m.FirstEqual(labels); !slices.Equal(got, want) {
			t.Error("other first rows")
		}
	}
}

func TestMostlyDifferentOrFewRowsStayApart(t *testing.T) {
	for _, n := range []int{manyEqual, manyEqual / 2} {
		sparse, dense := kinds(t, n, 1+n*n*(2*n/manyEqual-1)) // all different, or one kind
		for _, m := range []*Matrix{sparse, dense} {
			if m.FirstEqual(make([]int32, n)) != nil {
				t.Errorf("%d rows have firsts", n)
			}
		}
	}
}

// One of eight keys that end with three zero bits is what a part of the rows is drawn by.
func TestRowsOfFewFeaturesHaveKeysOfTheirOwn(t *testing.T) {
	const n = 4000
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i-n/2) / 1000
	}
	m, err := NewDense(n, 1, 1, values)
	if err != nil {
		t.Fatal(err)
	}
	drawn, keys := 0, m.Keys(work.NewJob(1, nil), []int32{0})
	for _, key := range keys {
		if key%8 == 0 {
			drawn++
		}
	}
	if drawn < n/8-70 || drawn > n/8+70 {
		t.Errorf("%d of %d rows", drawn, n)
	}
	scaled := m.Scaled(1. / 3).Scaled(3)
	if !slices.Equal(scaled.Keys(work.NewJob(1, nil), []int32{0}), keys) {
		t.Error("rounding changes keys")
	}
}
