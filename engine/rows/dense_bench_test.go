package rows

import (
	"fmt"
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// BenchmarkDense multiplies rows of sentence embeddings, float32, with one vector and with those of 20 classes.
// ns/value is processor time for a value of the rows.
func BenchmarkDense(b *testing.B) {
	const n, d, classes = 50_000, 384, 20
	values := make([]float32, n*d)
	for k := range values {
		values[k] = float32(math.Sin(float64(k)))
	}
	m, err := NewDense(n, d, d, values)
	if err != nil {
		b.Fatal(err)
	}
	job, shape := work.NewJob(*benchThreads, nil), panel.Shape{Features: d, Classes: classes}
	p, q, h := make([]float64, d), make([]float64, n), make([]float64, n)
	wide, scores := make([]float64, shape.Len()), make([]float64, n*shape.Stride())
	byRow, byCol := make([]float64, n), make([]float64, d)
	wideByRow, wideByCol := make([]float64, len(scores)), make([]float64, len(wide))
	for _, list := range [][]float64{p, q, h, wide, scores} {
		for k := range list {
			list[k] = 1 + math.Sin(float64(k))/2
		}
	}
	for name, product := range map[string]func(){
		"Times":          func() { m.TimesOn(job, m.All(), byRow, p) },
		"Transposed":     func() { m.TransposedTimes(job, byCol, q) },
		"Gram":           func() { m.AddGram(job, m.All(), byCol, h, p, 0) },
		"TimesPanels":    func() { m.TimesPanels(job, m.All(), wideByRow, wide, shape) },
		"TransposedWide": func() { m.AddTransposedPanels(job, m.All(), wideByCol, scores, shape) },
	} {
		b.Run(fmt.Sprintf("%s/float32", name), func(b *testing.B) {
			b.ResetTimer()
			start := processorTime(b)
			for range b.N {
				product()
			}
			b.ReportMetric(float64(processorTime(b)-start)/float64(b.N)/n/d, "ns/value")
		})
	}
}
