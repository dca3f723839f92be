package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
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

func TestWideProductsHaveTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 8)
	m, err := zipfRows(3000, 500, 60).matrix("float64packed")
	if err != nil {
		t.Fatal(err)
	}
	for _, classes := range []int{3, 11, 20, 70} { // one panel, two, an odd number, many
		shape := panel.Shape{Features: m.Cols(), Classes: classes}
		q, p := make([]float64, m.Rows()*shape.Stride()), make([]float64, shape.Len())
		for k := range q {
			q[k] = math.Sin(float64(k))
		}
		for k := range p {
			p[k] = math.Cos(float64(k))
		}
		var first []float64
		for _, threads := range []int{1, 2, 3, 5, 8} {
			job, sums, scores := work.NewJob(threads, nil), make([]float64, len(p)), make([]float64, len(q))
			m.AddTransposedPanels(job, m.All(), sums, q, shape)
			m.TimesPanels(job, m.All(), scores, p, shape)
			all := append(sums, scores...)
			if first == nil {
				first = all
			}
			if !slices.Equal(first, all) {
				t.Fatalf("%d classes, %d threads: other bits", classes, threads)
			}
		}
	}
}

// The loops for this processor, where there are any, give the same bits as those in Go.
func TestLoopsOfTheProcessorGiveTheSameBits(t *testing.T) {
	if !useLoops {
		t.Skip("this processor has none")
	}
	defer func() { useLoops = true }()
	indptr, indices, values, _ := messy(300, 50, 20, 7)
	for name, m := range checked(t, 50, indptr, indices, values) {
		for _, m := range []*Matrix{m, func() *Matrix { p, _ := m.Packed(work.NewJob(1, nil)); return p }()} {
			shape := panel.Shape{Features: m.Cols(), Classes: 11}
			var kept [2][]float64
			for k, use := range []bool{true, false} {
				useLoops = use
				p, q := make([]float64, shape.Len()), make([]float64, m.Rows()*shape.Stride())
				for j := range p {
					p[j] = math.Sin(float64(j))
				}
				m.TimesPanels(work.NewJob(1, nil), m.All(), q, p, shape)
				m.AddTransposedPanels(work.NewJob(1, nil), m.All(), p, q, shape)
				kept[k] = append(p, q...)
			}
			if !slices.Equal(kept[0], kept[1]) {
				t.Errorf("%s: other bits", name)
			}
		}
	}
}

// textRows are the arrays of a matrix.
type textRows struct {
	cols            int
	indptr, indices []int32
	values          []float64
}

// zipfRows have word frequencies as in text: feature k with a probability of about 1/k.
func zipfRows(n, cols, rowLength int) *textRows {
	random := rand.New(rand.NewPCG(3, 4))
	r := &textRows{cols: cols, indptr: make([]int32, n+1)}
	for i := range n {
		for range rowLength {
			rank := math.Exp(random.Float64() * math.Log(float64(cols)))
			r.indices = append(r.indices, min(int32(rank), int32(cols))-1)
			r.values = append(r.values, 0.1+random.Float64())
		}
		r.indptr[i+1] = int32(len(r.indices))
	}
	return r
}

func (r *textRows) matrix(kind string) (*Matrix, error) {
	if strings.HasPrefix(kind, "float32") {
		return New(r.cols, r.indptr, r.indices, convert[float32](r.values))
	}
	return New(r.cols, r.indptr, r.indices, r.values)
}
