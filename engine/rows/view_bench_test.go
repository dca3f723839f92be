//go:build unix

package rows

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

// BenchmarkDecisions decides all rows once, their check included, by the weights of 1, 8 and 20 outputs.
func BenchmarkDecisions(b *testing.B) {
	rows := benchData(b)
	random := rand.New(rand.NewPCG(1, 2))
	for _, outputs := range []int{1, 8, 20} {
		b.Run(fmt.Sprint(outputs), func(b *testing.B) {
			by := Weights{randomVector(random, outputs*rows.cols), randomVector(random, outputs), outputs > 1}
			dst, pool := make([]float64, (len(rows.indptr)-1)*outputs), work.NewPool(*benchThreads)
			b.ResetTimer()
			before := processorTime(b)
			for range b.N {
				view, err := View(rows.cols, rows.indptr, rows.indices, rows.values)
				if err != nil || view.Decisions(pool, by, dst) != nil {
					b.Fatal(err)
				}
			}
			work := float64(b.N) * float64(len(rows.indices))
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/work, "cpu-ns/nz")
		})
	}
}
