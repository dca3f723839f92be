// Package probability turns the scores of a classifier into probabilities.
package probability

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Temperature finds T for the probabilities (1 - e) softmax(s/T) + e/K of the scores s [K].
//
//	Problem  max over log T  Σ_i w_i log p_i(y_i) - log(1 + (log(T/T₀) / priorWidth)²), the posterior of log T
//	Symbols  p_i the probabilities above, w_i weight and y_i class of row i; T₀ the usual temperature; e Smoothing
//	Source   Guo, Pleiss, Sun & Weinberger 2017, section 4.2 (one temperature for all classes); Gelman, Jakulin, Pittau &
//	         Su 2008 (the Cauchy prior, whose narrow middle keeps T near T₀ until the labels demand otherwise)
//	Stops    gridSteps values of log(T/T₀) between ±gridReach, then goldenSteps of a golden section search around the
//	         best
//	Cost     gridSteps + goldenSteps passes over the scores
func Temperature(job *work.Job, rows *crossfit.Scores, usual float64) float64 {
	e := Smoothing(vector.Sum(rows.Held.Weight), rows.Classes)
	negated := func(step float64) float64 {
		pull := step / priorWidth
		return math.Log1p(pull*pull) + logLoss(job, rows, usual*math.Exp(step), e)
	}
	const width = 2 * gridReach / (gridSteps - 1)
	best, smallest := 0.0, math.Inf(1)
	for k := range gridSteps {
		step := width*float64(k) - gridReach
		if value := negated(step); value < smallest {
			best, smallest = step, value
		}
	}
	return usual * math.Exp(goldenSection(negated, best-width, best+width))
}

// Chosen on other samples of the benchmarks' data than those reported.
const (
	priorWidth  = 0.1 // of the prior of log T
	extraRows   = 0.2 // rows of each class that Smoothing adds
	gridReach   = 12.0
	gridSteps   = 121
	goldenSteps = 40 // the interval is then within rounding
)

// Smoothing is e = cK / (l + cK): c = extraRows of each class are added to l rows (Platt 1999, section 2.2).
func Smoothing(rows float64, classes int) float64 {
	extra := extraRows * float64(classes)
	return extra / (rows + extra)
}

// logLoss is -Σ w log p.
func logLoss(job *work.Job, r *crossfit.Scores, temperature, smoothing float64) float64 {
	var total [1]float64
	k := r.Classes
	job.Sum(len(r.Class), total[:], func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			scores := r.Held.Scores[i*k : (i+1)*k]
			score, sum := scores[r.Class[i]], 0.0
			for _, s := range scores {
				sum += math.Exp((s - score) / temperature) // infinite: the probability is 0
			}
			part[0] -= r.Held.Weight[i] * math.Log((1-smoothing)/sum+smoothing/float64(k))
		}
	})
	return total[0]
}

// goldenSection finds a minimum of f between lo and hi.
func goldenSection(f func(float64) float64, lo, hi float64) float64 {
	const ratio = 1 / math.Phi
	left, right := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	atLeft, atRight := f(left), f(right)
	for range goldenSteps {
		if atLeft < atRight {
			hi, right, atRight = right, left, atLeft
			left = hi - ratio*(hi-lo)
			atLeft = f(left)
		} else {
			lo, left, atLeft = left, right, atRight
			right = lo + ratio*(hi-lo)
			atRight = f(right)
		}
	}
	return (lo + hi) / 2
}
