//go:build unix

package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

var benchRows = zipfRows(20_000, 50_000, 60)

// measure reports the processor time of a product for each of so many values: unlike the time of day it does not grow
// while other programs have the processor.
func measure(b *testing.B, name string, values int, product func()) {
	b.Run(name, func(b *testing.B) {
		spent := func() int64 {
			var usage syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
				b.Fatal(err)
			}
			return usage.Utime.Nano() + usage.Stime.Nano()
		}
		product() // makes the scratch vectors
		b.ResetTimer()
		before := spent()
		for range b.N {
			product()
		}
		b.ReportMetric(float64(spent()-before)/float64(b.N)/float64(values), "cpu-ns/value")
	})
}

func randomVector(n int) []float64 {
	random, v := rand.New(rand.NewPCG(1, 2)), make([]float64, n)
	for i := range v {
		v[i] = random.NormFloat64()
	}
	return v
}

// measureProducts measures products with one vector and with those of 20 classes. AddGram, of one reading of the rows,
// is to be compared with the sum of the two others.
func measureProducts(b *testing.B, name string, m *Matrix) {
	job, shape := work.NewJob(1, nil), panel.Shape{Features: m.Cols(), Classes: 20}
	byRow, byCol := randomVector(m.Rows()), randomVector(m.Cols())
	wide, scores := randomVector(shape.Len()), randomVector(m.Rows()*shape.Stride())
	sums, wideSums := make([]float64, len(byCol)), make([]float64, len(wide))
	times, wideTimes := make([]float64, len(byRow)), make([]float64, len(scores))
	for product, run := range map[string]func(){
		"Times":               func() { m.TimesOn(job, m.All(), times, byCol) },
		"Transposed":          func() { m.TransposedTimes(job, sums, byRow) },
		"AddGram":             func() { m.AddGram(job, m.All(), sums, byRow, byCol, 0.5) },
		"TimesPanels":         func() { m.TimesPanels(job, m.All(), wideTimes, wide, shape) },
		"AddTransposedPanels": func() { m.AddTransposedPanels(job, m.All(), wideSums, scores, shape) },
	} {
		measure(b, name+"/"+product, m.NonZeros(), run)
	}
}

func BenchmarkProducts(b *testing.B) {
	for _, kind := range []string{"float64", "float32", "float64packed", "float32packed"} {
		m, err := benchRows.matrix(kind)
		if err != nil {
			b.Fatal(err)
		}
		if strings.HasSuffix(kind, "packed") {
			m, _ = m.Packed(work.NewJob(1, nil))
		}
		measureProducts(b, kind, m)
	}
}

// BenchmarkDense multiplies rows of the size of sentence embeddings.
func BenchmarkDense(b *testing.B) {
	const n, d = 50_000, 384
	m, err := NewDense(n, d, d, convert[float32](randomVector(n*d)))
	if err != nil {
		b.Fatal(err)
	}
	measureProducts(b, "float32", m)
}

// BenchmarkPack renumbers the features, which a fit does once.
func BenchmarkPack(b *testing.B) {
	m, err := benchRows.matrix("float64")
	if err != nil {
		b.Fatal(err)
	}
	measure(b, "float64", m.NonZeros(), func() { m.Packed(work.NewJob(1, nil)) })
}

// BenchmarkDecisions decides all rows once, their check included, by the weights of 1, 8 and 20 outputs.
func BenchmarkDecisions(b *testing.B) {
	rows := benchRows
	for _, outputs := range []int{1, 8, 20} {
		by := Weights{randomVector(outputs * rows.cols), randomVector(outputs), outputs > 1}
		dst, pool := make([]float64, (len(rows.indptr)-1)*outputs), work.NewPool(1)
		measure(b, fmt.Sprint(outputs), len(rows.indices), func() {
			view, err := View(rows.cols, rows.indptr, rows.indices, rows.values)
			if err != nil || view.Decisions(pool, by, dst) != nil {
				b.Fatal(err)
			}
		})
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
