package fit

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Rows of weight 0 and rows without values have no part in the unit, whatever else they are.
func TestRowsThatDoNotCountHaveNoPartInTheUnit(t *testing.T) {
	rowsOf := func(values []float64, indptr []int64) *rows.Matrix {
		m, err := rows.New(3, indptr, []int32{0, 1, 0, 2, 2, 0}, values)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	job := work.NewJob(2, nil)
	plain := rowsOf([]float64{3, 4, 6, 8, 1e200, 0}, []int64{0, 2, 4, 4, 5, 6}) // lengths 5, 10, none, 1e200, 0
	want := math.Sqrt((3*25 + 100) / 4.)
	if got := plain.RootMeanSquare(job, []float64{3, 1, 7, 0, 5}); math.Abs(got-want) > 1e-14 {
		t.Errorf("unit %v, should be %v", got, want)
	}
	for exponent := -300; exponent <= 300; exponent += 3 {
		want := math.Pow(10, float64(exponent))
		got := rowsOf([]float64{0, 0, 0, 0, want, 0}, []int64{0, 2, 4, 4, 5, 6}).RootMeanSquare(job, slices.Repeat([]float64{1}, 5))
		if math.Abs(got/want-1) > 1e-12 {
			t.Errorf("unit %v of a row of length %v", got, want)
		}
	}
	if got := rowsOf(make([]float64, 6), []int64{0, 2, 4, 4, 5, 6}).RootMeanSquare(job, slices.Repeat([]float64{1}, 5)); got != 1 {
		t.Errorf("unit %v of rows without values", got)
	}
	twice, err := rows.New(3, []int64{0, 3}, []int32{2, 1, 2}, []float64{3, 6, 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := twice.RootMeanSquare(job, slices.Repeat([]float64{1}, twice.Rows())); got != 10 {
		t.Errorf("unit %v where an index stands twice, should be 10", got)
	}
}

// With labels of few rows of counts annealing at a small alpha once took the directions of least variance.
func TestSmallAlphaFindsPlantedCounts(t *testing.T) {
	for _, classes := range []int{2, 3} {
		data := planted.Classes(400, 60, 3*classes, slices.Repeat([]float64{1 / float64(classes)}, classes), 4)
		for _, alpha := range []float64{1e-6, 1e-4, 1e-2, 1, 10} {
			objectives := map[string]float64{}
			for _, by := range []string{"annealing", "switching"} {
				o := method.Defaults()
				o.Method, o.Alpha, o.Balance = method.Method(by), alpha, "labels"
				objectives[by] = mustFit(t, data, nil, o).Model.Objective
			}
			if objectives["annealing"] > 1.02*objectives["switching"] {
				t.Errorf("%d classes, alpha %v: objectives %v", classes, alpha, maps.Collect(maps.All(objectives)))
			}
		}
	}
}
