package rows

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// decisions are those of a view.
func decisions(view func() (*Matrix, error), pool *work.Pool, by Weights, dst []float64) error {
	m, err := view()
	if err != nil {
		return err
	}
	return m.Decisions(pool, by, dst)
}

func someWeights(cols, outputs int, byFeature bool) Weights {
	by := Weights{make([]float64, cols*outputs), make([]float64, outputs), byFeature}
	for y := range outputs {
		by.Intercept[y] = math.Cos(float64(y))
		for j := range cols {
			at := y*cols + j
			if byFeature {
				at = j*outputs + y
			}
			by.Coef[at] = math.Sin(float64(y*cols + j))
		}
	}
	return by
}

// eachOnce is a matrix without entries whose index stands before them in their row.
func eachOnce(indptr, indices []int64, values []float64, _ [][]float64) (ends, once []int64, kept []float64) {
	ends = []int64{0}
	for i, end := range indptr[1:] {
		for k := indptr[i]; k < end; k++ {
			if !slices.Contains(once[ends[i]:], indices[k]) {
				once, kept = append(once, indices[k]), append(kept, values[k])
			}
		}
		ends = append(ends, int64(len(once)))
	}
	return ends, once, kept
}

// Decisions are the sums in the order of the entries, to the bit: in both layouts of the weights, with the loops of the
// processor and those in Go, on any number of threads, for any number of outputs, of rows that were checked before or
// not.
func TestDecisionsAreSumsInOrder(t *testing.T) {
	worktest.Processors(t, 3)
	loops := useLoops
	defer func() { useLoops = loops }()
	const n, d = 700, 90
	indptr, indices, values := eachOnce(messy(n, d, 60, 3))
	for k := range values {
		values[k] = float64(float32(values[k])) // the same in both types
	}
	for _, outputs := range []int{1, 2, 3, 4, 5, 7, 8, 11, 12, 15, 16, 19, 20, 23, 24, 25, 31, 51} {
		by := someWeights(d, outputs, false)
		want := make([]float64, n*outputs)
		for i := range n {
			for y := range outputs {
				sum := 0.0
				for k := indptr[i]; k < indptr[i+1]; k++ {
					sum += values[k] * by.Coef[y*d+int(indices[k])]
				}
				want[i*outputs+y] = sum + by.Intercept[y]
			}
		}
		for name, rows := range everyType(d, indptr, indices, values) {
			for _, way := range []struct{ byFeature, loops bool }{{false, false}, {true, false}, {true, true}} {
				useLoops = way.loops && loops
				got := make([]float64, len(want)+1)
				got[len(want)] = 7
				pool := work.NewPool(1 + outputs%3)
				if err := decisions(rows, pool, someWeights(d, outputs, way.byFeature), got[:len(want)]); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got[:len(want)], want) || got[len(want)] != 7 {
					t.Errorf("%s, %d outputs, %+v: other bits", name, outputs, way)
				}
				clear(got)
				m, _ := rows()
				if m, err := m.Checked(); err != nil || m.Decisions(pool, someWeights(d, outputs, way.byFeature), got) != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got[:len(want)], want) {
					t.Errorf("%s, %d outputs, %+v: other bits of a matrix", name, outputs, way)
				}
			}
		}
	}
}

// Dense, packed and scaled rows have the decisions that they have as sums of products.
func TestDecisionsOfAnyMatrix(t *testing.T) {
	for name, m := range manyRows(t) {
		m = m.Scaled(0.3)
		for _, outputs := range []int{1, 3, 20} {
			by, sums, want := someWeights(m.Cols(), outputs, false), make([]float64, m.Rows()), make([]float64, m.Rows()*outputs)
			for y, shift := range by.Intercept {
				m.TimesOn(work.NewJob(1, nil), m.All(), sums, by.Coef[y*m.Cols():(y+1)*m.Cols()])
				for i, sum := range sums {
					want[i*outputs+y] = sum + shift
				}
			}
			for _, byFeature := range []bool{false, true} {
				got := make([]float64, len(want))
				if err := m.Decisions(work.NewPool(2), someWeights(m.Cols(), outputs, byFeature), got); err != nil {
					t.Error(err)
				}
				near(t, fmt.Sprintf("%s, %d outputs, by feature %v", name, outputs, byFeature), got, want)
			}
		}
	}
}

func TestDecisionsOfRowsThatAreWrong(t *testing.T) {
	indptr, indices, values := []int64{0, 2, 2, 5}, []int64{0, 4, 1, 2, 3}, []float64{1, 2, 3, 4, 5}
	for name, spoil := range map[string]func(indptr, indices []int64){
		"has index 5":    func(_, indices []int64) { indices[3] = 5 },
		"has index -1":   func(_, indices []int64) { indices[4] = -1 },
		"falls from 2":   func(indptr, _ []int64) { indptr[2] = 1 },
		"indptr[0] is 1": func(indptr, _ []int64) { indptr[0] = 1 },
		"requires 6":     func(indptr, _ []int64) { indptr[3] = 6 },
		"requires 9":     func(indptr, _ []int64) { indptr[1] = 9 },
	} {
		ends, places := slices.Clone(indptr), slices.Clone(indices)
		spoil(ends, places)
		for form, rows := range everyType(5, ends, places, values) {
			for _, byFeature := range []bool{false, true} {
				for _, outputs := range []int{1, 3, 8} {
					err := decisions(rows, work.NewPool(1), someWeights(5, outputs, byFeature), make([]float64, 3*outputs))
					if err == nil || !strings.Contains(err.Error(), name) {
						t.Errorf("%s, %d outputs: want an error with %q, got %v", form, outputs, name, err)
					}
				}
			}
		}
	}
}

func TestDecisionsOfNoRowsAndOfEmptyOnes(t *testing.T) {
	for _, n := range []int{0, 1, 5} {
		for form, rows := range everyType(3, make([]int64, n+1), nil, nil) {
			by, dst := someWeights(3, 2, true), make([]float64, 2*n)
			if err := decisions(rows, work.NewPool(1), by, dst); err != nil {
				t.Fatal(err)
			}
			for k, decision := range dst {
				if decision != by.Intercept[k%2] {
					t.Errorf("%s: decision %v of an empty row", form, decision)
				}
			}
		}
	}
}

// Decisions of many outputs are made for a few rows at a time, however few values these have.
func TestDecisionsOfManyOutputs(t *testing.T) {
	const n, outputs = 40_000, 100
	m, err := New(3, make([]int64, n+1), []int32{}, []float64{})
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]bool, n)
	err = m.EachDecisions(work.NewPool(2), someWeights(3, outputs, true), func(first int, decisions []float64) {
		if len(decisions) > taskDecisions+outputs {
			t.Errorf("%d decisions at a time", len(decisions))
		}
		for i := range len(decisions) / outputs {
			seen[first+i] = true
		}
	})
	if err != nil || slices.Contains(seen, false) {
		t.Error("a row has no decisions")
	}
}

// Decisions that are no finite numbers are refused, with the value that makes them, also one that others add up to.
func TestDecisionsOfValuesThatAreNotFinite(t *testing.T) {
	for want, values := range map[string][]float64{
		"row 1 has the value NaN at feature 2": {1, 2, math.NaN(), 3}, "row 1 has the value +Inf": {1, 2, math.Inf(1), 3},
		"decisions overflow: scale your features (the largest value of X is 1.7e+38 in row 1, column 2)": {1, 2, 1.7e38, 3},
	} {
		for form, rows := range everyType(3, []int64{0, 1, 3, 4}, []int64{0, 1, 2, 2}, values) {
			for _, outputs := range []int{1, 5} {
				by := someWeights(3, outputs, outputs > 1)
				vector.Scale(by.Coef, 1e300)
				err := decisions(rows, work.NewPool(1), by, make([]float64, 3*outputs))
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %s", form, err, want)
				}
			}
		}
	}
}
