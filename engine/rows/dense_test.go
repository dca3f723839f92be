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

// allProducts are all products of some rows, one after the other.
func allProducts(m *Matrix, on *Subset, classes, threads int) []float64 {
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

// sameBits compares the loops of the processor with those in Go, on several numbers of threads.
func sameBits(t *testing.T, name string, m *Matrix, classes ...int) {
	t.Helper()
	worktest.Processors(t, 8)
	loops := useLoops
	defer func() { useLoops = loops }()
	some := m.Subset(slices.DeleteFunc(slices.Clone(m.All().Rows()), func(i int32) bool { return i%5 == 2 }))
	for _, classes := range classes {
		for _, on := range []*Subset{m.All(), some} {
			useLoops = false
			want := allProducts(m, on, classes, 1)
			useLoops = loops
			for _, threads := range []int{1, 3, 8} {
				if !slices.Equal(allProducts(m, on, classes, threads), want) {
					t.Fatalf("%s, %d classes, %d threads: other bits", name, classes, threads)
				}
			}
		}
	}
}

func TestDenseProductsHaveTheSameBits(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 7}, {9, 96}, {37, 20}, {70, 97}, {41, 200}, {700, 205}} {
		for name, m := range denseRows(t, size[0], size[1]) {
			sameBits(t, fmt.Sprint(size, name), m, 1, 3, 5, 8, 11, 16, 20, 27, 40)
		}
	}
}

func TestSparseProductsHaveTheSameBits(t *testing.T) {
	const d = 300
	indptr, indices, values := eachOnce(messy(3000, d, 60, 11))
	for name, m := range checked(t, d, indptr, indices, values) {
		if len(m.all.blocks) < 4 {
			t.Fatalf("the matrix is cut into %d blocks: too few for this test", len(m.all.blocks))
		}
		sameBits(t, name, m, 1, 3, 40) // 3: less than a panel, 40: two
		packed, _ := m.Packed(work.NewJob(1, nil))
		sameBits(t, name+" packed", packed, 1, 3, 40)
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
				got := allProducts(pair[0], pair[0].All(), classes, 1)
				near(t, fmt.Sprintf("%s, %s, %d classes", name, of, classes), got, allProducts(pair[1], pair[1].All(), classes, 1))
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
