package rows

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// denseRows are n rows of d features with room behind each, in both types.
func denseRows(t *testing.T, n, d int) map[string]*Matrix {
	t.Helper()
	stride := d + 3
	large, small := make([]float64, n*stride), make([]float32, n*stride)
	for k := range large {
		small[k] = float32(math.Sin(float64(k * k)))
		large[k] = float64(small[k])
	}
	a, err := NewDense(n, d, stride, large)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewDense(n, d, stride, small)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Matrix{"float64": a, "float32": b}
}

// denseProducts are all products of some rows, one after the other.
func denseProducts(m *Matrix, on *Subset, classes, threads int) []float64 {
	job, shape := work.NewJob(threads, nil), panel.Shape{Features: m.Cols(), Classes: classes}
	p, q := make([]float64, shape.Len()), make([]float64, m.Rows()*shape.Stride())
	for k := range p {
		p[k] = math.Cos(float64(k))
	}
	for k := range q {
		if k%3 > 0 {
			q[k] = math.Sin(float64(k) + 1)
		}
	}
	scores, sums := make([]float64, len(q)), make([]float64, len(p))
	m.TimesPanels(job, on, scores, p, shape)
	m.AddTransposedPanels(job, on, sums, q, shape)
	times, transposed, gram := make([]float64, m.Rows()), make([]float64, m.Cols()), make([]float64, m.Cols())
	m.TimesOn(job, on, times, p[:m.Cols()])
	m.AddTransposedOn(job, on, transposed, q[:m.Rows()])
	total := m.AddGram(job, on, gram, q[:m.Rows()], p[:m.Cols()], 0.5)
	return slices.Concat(scores, sums, times, transposed, gram, []float64{total})
}

// The loops of the processor give the bits of those in Go, on any number of threads.
func TestDenseLoopsGiveTheSameBits(t *testing.T) {
	worktest.Processors(t, 3)
	loops := useLoops
	defer func() { useLoops = loops }()
	for _, size := range [][2]int{{1, 1}, {3, 7}, {9, 96}, {37, 20}, {70, 97}, {41, 200}, {700, 205}} {
		n, d := size[0], size[1]
		for name, m := range denseRows(t, n, d) {
			some := m.Subset(slices.DeleteFunc(slices.Clone(m.All().Rows()), func(i int32) bool { return i%5 == 2 }))
			for _, classes := range []int{1, 3, 5, 8, 11, 16, 20, 27, 40} {
				for _, on := range []*Subset{m.All(), some} {
					useLoops = false
					want := denseProducts(m, on, classes, 1)
					useLoops = loops
					for _, threads := range []int{1, 3} {
						if !slices.Equal(denseProducts(m, on, classes, threads), want) {
							t.Fatalf("%d rows of %d %s, %d classes, %d threads: other bits", n, d, name, classes, threads)
						}
					}
				}
			}
		}
	}
}

// Dense products are those of the same rows as CSR.
func TestDenseProductsAreThoseOfCSR(t *testing.T) {
	const n, d = 70, 97
	for name, m := range denseRows(t, n, d) {
		var indices []int64
		var values []float64
		indptr := make([]int64, n+1)
		for i := range n {
			m.Row(i, func(col int, value float64) {
				indices, values = append(indices, int64(col)), append(values, value)
			})
			indptr[i+1] = int64(len(indices))
		}
		sparse, err := New(d, indptr, indices, values)
		if err != nil {
			t.Fatal(err)
		}
		job := work.NewJob(2, nil)
		list, again := []int32{69, 3, 3, 40, 0, 7, 11, 12, 50, 68, 1}, []int32{10, 2, 2, 5, 9}
		for of, pair := range map[string][2]*Matrix{"all": {m, sparse},
			"selected": {m.Selected(job.Pool, list), sparse.Selected(job.Pool, list)},
			"selected twice": {m.Selected(job.Pool, list).Selected(job.Pool, again),
				sparse.Selected(job.Pool, list).Selected(job.Pool, again)}} {
			for _, classes := range []int{3, 8, 20} {
				got := denseProducts(pair[0], pair[0].All(), classes, 1)
				near(t, fmt.Sprintf("%s, %s, %d classes", name, of, classes), got, denseProducts(pair[1], pair[1].All(), classes, 1))
			}
			by := Weights{Coef: make([]float64, 2*d), Intercept: []float64{1, 2}}
			for k := range by.Coef {
				by.Coef[k] = math.Cos(float64(k))
			}
			got, want := make([]float64, 2*pair[0].Rows()), make([]float64, 2*pair[0].Rows())
			pair[0].Decisions(job.Pool, by, got)
			pair[1].Decisions(job.Pool, by, want)
			near(t, name+" "+of+" decisions", got, want)
		}
	}
}
