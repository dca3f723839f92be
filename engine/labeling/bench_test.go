package labeling

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fewlabel/fewlabel/engine/work"
)

// benchSizes are rows and classes of the paper's data sets and of larger ones.
var benchSizes = [][2]int{{5581, 10}, {35888, 2}, {100000, 105}, {1000000, 20}}

// regrets are planted topics (see topics) with the cost of a row's best label taken off all its costs: no labeling
// changes places by that, and a gap in percent is one of what the counts cost, not of an arbitrary zero.
func regrets(n, m int) instance {
	in := topics(n, m, 1)
	for i := range n {
		row := in.costs[i*m : (i+1)*m]
		least := slices.Min(row)
		for y := range row {
			row[y] -= least
		}
	}
	return in
}

// unavoidable is the sum over the rows of the log loss of the best label, scores being minus the costs.
func (in instance) unavoidable() float64 {
	total, m := 0.0, in.classes()
	for i := range in.rows {
		sum := 0.0
		for _, c := range in.costs[i*m : (i+1)*m] {
			sum += math.Exp(-c)
		}
		total += math.Log(sum)
	}
	return total
}

// fastest is the shortest time of a few runs.
func fastest(run func()) float64 {
	best := math.Inf(1)
	for range 3 {
		start := time.Now()
		run()
		best = math.Min(best, time.Since(start).Seconds())
	}
	return best
}

// BenchmarkLabeling compares, for each size, switching from its greedy start (sw) and Transport from the same start
// (tr): times and gaps to the optimum. loss-gap is the gap of switching where costs are log losses, which add to each
// row what no label can avoid.
func BenchmarkLabeling(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			in := regrets(size[0], size[1])
			for b.Loop() {
				benchLabeling(b, in)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func benchLabeling(b *testing.B, in instance) {
	var switched, best []int32
	switching := fastest(func() {
		switched = in.greedy()
		Switch(switched, in.costs, in.classes(), 0)
	})
	transport := fastest(func() {
		best = in.greedy()
		Transport(best, in.costs, in.counts)
	})
	optimum := in.total(best)
	b.ReportMetric(1000*switching, "sw-ms")
	b.ReportMetric(100*(in.total(switched)/optimum-1), "sw-gap-%")
	b.ReportMetric(100*(in.total(in.greedy())/optimum-1), "greedy-gap-%")
	b.ReportMetric(100*(in.total(switched)-optimum)/(optimum+in.unavoidable()), "sw-loss-gap-%")
	b.ReportMetric(1000*transport, "tr-ms")
	b.ReportMetric(transport/switching, "tr/sw")
}

// BenchmarkSoft anneals from T = 10 to 0.001 by factors of 1.5, each temperature from the potentials of the one
// before.
func BenchmarkSoft(b *testing.B) {
	for _, size := range [][2]int{{5581, 10}, {35888, 2}, {20000, 105}, {200000, 20}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			s := regrets(size[0], size[1]).softly(1)
			for b.Loop() {
				clear(s.v)
				calls, worst, start := 0, 0.0, time.Now()
				for t := 10.0; t > 1e-3; t /= 1.5 {
					before := time.Now()
					SoftLabels(work.NewJob(1, nil), s.p, s.costs, s.weights, s.shares, s.v, t, Exact)
					worst = math.Max(worst, time.Since(before).Seconds())
					calls++
				}
				b.ReportMetric(1000*time.Since(start).Seconds()/float64(calls), "ms/temperature")
				b.ReportMetric(1000*worst, "slowest-ms")
			}
		})
	}
}
