package method

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

func FitOneClass(r *Run) *Solution {
	s := r.Objective.Sample
	decision := float64(2*s.Class[0] - 1)
	r.Path.Trace.Warn(warning.OneClass, float64(s.Class[0]))
	r.Path.Reason = ending.OneClass
	return &Solution{Coef: make([]float64, s.Features), Intercept: []float64{decision}, Loss: r.Objective.Loss(0),
		Outputs: slices.Repeat([]float64{decision}, s.Rows.Rows()), Converged: true}
}

func FitSupervised(r *Run) *Solution {
	p, limits := r.Path, r.Path.Limits.Supervised()
	p.Reason = ending.Converged
	r.byDual()
	d := r.descent()
	p.Last = d.sharpen(d.solve(d.risk)(limits))
	p.Last.Converged = p.Last.Converged || p.Last.Gap <= p.Limits.Tol*p.Last.Value
	if p.Steps = p.Last.Steps; !p.Last.Converged && p.Steps == p.Limits.MaxIter {
		p.Reason = ending.MaxIter
	}
	if r.Objective.Sample.All.Unlabeled == 0 {
		p.Record(0, 0)
		return r.read(d.risk)
	}
	solution := r.read(d.risk) // with the scores of unlabeled rows
	p.Measure = func() (value, share float64) {
		return r.measure(solution.Loss, solution.Regularizer, solution.Score(r.Objective))
	}
	p.Record(0, 0)
	return solution
}

// byDual begins with the dual of two classes with the squared hinge and many labeled rows; few are a preconditioner,
// with which Newton steps are as fast, and long or dense rows in random order take longer.
func (r *Run) byDual() {
	o, s := r.Objective, r.Objective.Sample
	if r.Options.Loss != SquaredHinge || !s.Paired() || o.Start != nil || o.Job.Group != nil || s.Rows.Dense() ||
		len(s.Labeled) > s.Rows.Cols() || s.Rows.NonZeros() > largestDual ||
		risk.Preconditions(len(s.Labeled), s.Rows.NonZeros()) {
		return
	}
	d := &dual{rows: s.Rows, listed: s.Labeled, constant: s.Options.FitIntercept}
	for k, y := range s.Class {
		d.sign, d.cost = append(d.sign, float64(2*y-1)), append(d.cost, s.LabeledWeight[k]/o.Alpha)
	}
	w, b := d.descend(o.Job)
	o.Start = &model.Linear{Classes: 2, Features: s.Features, Outputs: 1, Coef: make([]float64, s.Features),
		Intercept: []float64{b}}
	for k, v := range w {
		o.Start.Coef[s.Feature[k]] = v / s.Length
	}
}

// largestDual is a number of non-zeros that caches hold: 6,000,000 in random order took 1.6 to 1.8 times as long.
const largestDual = 2_000_000

// FitScores is the loose solution at the hard labels that keep the shares and have the largest scores [unlabeled, K].
func FitScores(r *Run, scores []float64) *Solution {
	d := r.descent()
	r.Costs.Admit(d.risk)
	hard := belief.NewHard(d.risk, r.Costs, nil)
	hard.BeginByScores(scores)
	hard.Enter(1)
	r.Path.Last = d.solve(d.risk)(r.Path.Limits.Way(r.Path.Limits.Start().MaxSteps))
	return r.read(d.risk)
}

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
