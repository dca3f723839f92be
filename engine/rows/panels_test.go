package rows

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// The wide products are the narrow ones, class by class, on any number of threads.
func TestWideProductsAreThoseOfEachClass(t *testing.T) {
	const n, d = 1500, 90 // enough for two blocks of rows
	indptr, indices, values, _ := messy(n, d, 60, 3)
	all := checked(t, d, indptr, indices, values)
	for name, m := range checked(t, d, indptr, indices, values) {
		all[name+" packed"], _ = m.Packed(work.NewJob(1, nil))
	}
	for name, m := range all {
		for _, classes := range []int{1, 3, 4, 5, 8, 9, 13, 20, 70} {
			for _, threads := range []int{1, 3} {
				name := fmt.Sprintf("%s, %d classes, %d threads", name, classes, threads)
				comparePanels(t, name, m, panel.Shape{Features: d + 1, Classes: classes}, work.NewJob(threads, nil))
			}
		}
	}
}

func comparePanels(t *testing.T, name string, m *Matrix, shape panel.Shape, job *work.Job) {
	t.Helper()
	n, d := m.Rows(), m.Cols()
	some := m.Subset(slices.DeleteFunc(slices.Clone(m.All().Rows()), func(i int32) bool { return i%5 == 2 }))
	p, q := make([]float64, shape.Len()), make([]float64, n*shape.Stride())
	for k := range p {
		p[k] = math.Sin(float64(k))
	}
	for k := range q {
		if k%3 > 0 {
			q[k] = math.Cos(float64(k))
		}
	}
	scores, sums := make([]float64, n*shape.Stride()), make([]float64, shape.Len())
	m.TimesPanels(job, some, scores, p, shape)
	m.AddTransposedPanels(job, some, sums, q, shape)
	for y := range shape.Classes {
		narrow, column := make([]float64, d), make([]float64, n)
		for j := range narrow {
			narrow[j] = p[shape.At(j, y)]
		}
		for i := range column {
			column[i] = q[i*shape.Stride()+y]
		}
		want, wantSum := make([]float64, n), make([]float64, d)
		m.TimesOn(job, some, want, narrow)
		m.AddTransposedOn(job, some, wantSum, column)
		got, gotSum := make([]float64, n), make([]float64, d)
		for i := range got {
			got[i] = scores[i*shape.Stride()+y]
		}
		for j := range gotSum {
			gotSum[j] = sums[shape.At(j, y)]
		}
		near(t, name+" X W", got, want)
		near(t, name+" X'Q", gotSum, wantSum)
	}
}
