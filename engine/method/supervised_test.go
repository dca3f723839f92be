package method

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/work"
)

// At the optimum β_i = C_i max(0, 1 - y_i f_i), with which the dual objective equals the primal one: here within a
// hundredth, both from dense rows.
func TestDualWeightsAreNearTheOptimum(t *testing.T) {
	data := planted.Topics(400, 60, 400, 0.5, 3)
	for _, constant := range []bool{true, false} {
		p := &dual{rows: data.Rows, constant: constant}
		for i, y := range data.Labels {
			p.listed, p.sign, p.cost = append(p.listed, int32(i)), append(p.sign, float64(2*y-1)), append(p.cost, 0.5+float64(i%3))
		}
		w, b := p.descend(work.NewJob(1, nil))
		square := b * b
		for _, v := range w {
			square += v * v
		}
		primal, lower := square/2, -square/2
		for i, row := range data.Dense {
			f := b
			for j, v := range row {
				f += v * w[j]
			}
			slack := math.Max(0, 1-p.sign[i]*f)
			primal += p.cost[i] * slack * slack / 2
			beta := p.cost[i] * slack // at the optimum
			lower += beta - beta*beta/(2*p.cost[i])
		}
		if gap := math.Abs(primal-lower) / primal; gap > 0.01 {
			t.Errorf("constant %v: objectives %v and %v", constant, primal, lower)
		}
	}
}
