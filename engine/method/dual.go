package method

import (
	"math"
	"math/rand/v2"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// dual comes near the support vector machine of two classes, one dual coordinate at a time.
//
//	Problem  min over w  ½ |w|² + Σ_i C_i ½ max(0, 1 - y_i f_i)², f_i = w . x_i [+ b, with ½ b² besides]; its dual
//	         max over β >= 0  Σ_i β_i - ½ |w|² - Σ_i β_i² / (2 C_i), with w = Σ_i β_i y_i x_i [, b = Σ_i β_i y_i]
//	Symbols  β_i dual of row i; G_i = y_i f_i - 1 + β_i / C_i the dual's gradient
//	Source   Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, algorithms 1 and 3 (shrinking)
//	Stops    no G_i of an epoch is larger than nearDual where β_i can follow it; dualEpochs
//	Cost     an epoch: two readings of each row that is not shrunk
type dual struct {
	rows       *rows.Matrix
	listed     []int32   // rows that take part
	sign, cost []float64 // [listed] y, ±1; C > 0
	constant   bool      // whether there is b

	beta, square, w []float64 // [listed], [listed] |x_i|², [d]
	b               float64
	active          []int32 // places in listed
	limit           float64 // G_i above which β_i = 0 stays
}

const (
	nearDual   = 0.1
	dualEpochs = 10
)

func (d *dual) descend(job *work.Job) (w []float64, b float64) {
	n := len(d.listed)
	d.beta, d.square, d.w = make([]float64, n), make([]float64, n), make([]float64, d.rows.Cols())
	d.active, d.limit = make([]int32, n), math.Inf(1)
	for k, i := range d.listed {
		d.active[k], d.square[k] = int32(k), d.rows.SquaredNorm(int(i))
		if d.constant {
			d.square[k]++
		}
	}
	random := rand.New(rand.NewPCG(0, 0))
	for range dualEpochs {
		random.Shuffle(len(d.active), func(a, b int) { d.active[a], d.active[b] = d.active[b], d.active[a] })
		job.CountAndCheck(2 * int64(len(d.active)) * int64(d.rows.NonZeros()) / int64(d.rows.Rows()))
		if d.epoch() <= nearDual {
			break
		}
	}
	return d.w, d.b
}

// epoch visits the active rows and returns the largest |G_i| that β_i can follow.
func (d *dual) epoch() (violation float64) {
	kept, largest := d.active[:0], 0.0
	for _, k := range d.active {
		f := d.rows.RowTimes(int(d.listed[k]), d.w) + d.b
		gradient := d.sign[k]*f - 1 + d.beta[k]/d.cost[k]
		if d.beta[k] == 0 && gradient > 0 {
			if gradient <= d.limit {
				kept = append(kept, k)
			}
			continue
		}
		kept = append(kept, k)
		violation, largest = max(violation, math.Abs(gradient)), max(largest, gradient)
		beta := max(0, d.beta[k]-gradient/(d.square[k]+1/d.cost[k]))
		scale := (beta - d.beta[k]) * d.sign[k]
		d.beta[k] = beta
		d.rows.AddRow(int(d.listed[k]), scale, d.w)
		if d.constant {
			d.b += scale
		}
	}
	d.active, d.limit = kept, max(largest, nearDual)
	return violation
}
