// Package dual comes near the support vector machine of two classes, one dual coordinate at a time. Start at Descend.
package dual

import (
	"math"
	"math/rand/v2"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Problem is a support vector machine.
//
//	Problem  min over w  ½ |w|² + Σ_i C_i ½ max(0, 1 - y_i f_i)², f_i = w . x_i [+ b, with ½ b² besides]; its dual
//	         max over β >= 0  Σ_i β_i - ½ |w|² - Σ_i β_i² / (2 C_i), with w = Σ_i β_i y_i x_i [, b = Σ_i β_i y_i]
//	Symbols  β_i dual of row i; G_i = y_i f_i - 1 + β_i / C_i the dual's gradient
//	Source   Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, algorithms 1 and 3 (shrinking)
//	Stops    no G_i of an epoch is larger than near where β_i can follow it; epochs
//	Cost     an epoch: two readings of each row that is not shrunk
type Problem struct {
	Rows     *rows.Matrix
	Listed   []int32   // rows that take part
	Sign     []float64 // [Listed] y, ±1
	Cost     []float64 // [Listed] C > 0
	Constant bool      // whether there is b
}

const (
	near   = 0.1
	epochs = 10
)

type descent struct {
	*Problem
	beta, square, w []float64 // [Listed], [Listed] |x_i|², [d]
	b               float64
	active          []int32 // places in Listed
	limit           float64 // G_i above which β_i = 0 stays
}

func (p *Problem) Descend(job *work.Job) (w []float64, b float64) {
	n := len(p.Listed)
	d := &descent{Problem: p, beta: make([]float64, n), square: make([]float64, n), w: make([]float64, p.Rows.Cols()),
		active: make([]int32, n), limit: math.Inf(1)}
	for k, i := range p.Listed {
		d.active[k], d.square[k] = int32(k), p.Rows.SquaredNorm(int(i))
		if p.Constant {
			d.square[k]++
		}
	}
	random := rand.New(rand.NewPCG(0, 0))
	for range epochs {
		random.Shuffle(len(d.active), func(a, b int) { d.active[a], d.active[b] = d.active[b], d.active[a] })
		job.CountAndCheck(2 * int64(len(d.active)) * int64(p.Rows.NonZeros()) / int64(p.Rows.Rows()))
		if d.epoch() <= near {
			break
		}
	}
	return d.w, d.b
}

// epoch visits the active rows and returns the largest |G_i| that β_i can follow.
func (d *descent) epoch() (violation float64) {
	kept, largest := d.active[:0], 0.0
	for _, k := range d.active {
		f := d.Rows.RowTimes(int(d.Listed[k]), d.w) + d.b
		gradient := d.Sign[k]*f - 1 + d.beta[k]/d.Cost[k]
		if d.beta[k] == 0 && gradient > 0 {
			if gradient <= d.limit {
				kept = append(kept, k)
			}
			continue
		}
		kept = append(kept, k)
		violation, largest = max(violation, math.Abs(gradient)), max(largest, gradient)
		beta := max(0, d.beta[k]-gradient/(d.square[k]+1/d.Cost[k]))
		scale := (beta - d.beta[k]) * d.Sign[k]
		d.beta[k] = beta
		d.Rows.AddRow(int(d.Listed[k]), scale, d.w)
		if d.Constant {
			d.b += scale
		}
	}
	d.active, d.limit = kept, max(largest, near)
	return violation
}
