package rows

import (
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// The products for 20 classes at once, in nanoseconds per non-zero.
func BenchmarkPanels(b *testing.B) {
	m, err := benchData(b).matrix("float64")
	if err != nil {
		b.Fatal(err)
	}
	m, _ = m.Packed(work.NewJob(1, nil))
	shape, random, job := panel.Shape{Features: m.Cols(), Classes: 20}, rand.New(rand.NewPCG(1, 2)), work.NewJob(*benchThreads, nil)
	weights, scores := randomVector(random, shape.Len()), randomVector(random, m.Rows()*shape.Stride())
	for name, product := range map[string]func(){
		"Times":      func() { m.TimesPanels(job, m.All(), scores, weights, shape) },
		"Transposed": func() { m.AddTransposedPanels(job, m.All(), weights, scores, shape) },
	} {
		b.Run(name, func(b *testing.B) {
			product()
			b.ResetTimer()
			before := processorTime(b)
			for range b.N {
				product()
			}
			done := float64(b.N) * float64(m.NonZeros())
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/done, "ns/nz")
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/done, "cpu-ns/nz")
		})
	}
}
