package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// temperature finds T at which rows have a given mean of their largest probability.
//
//	Problem  Σ_i w_i max_y p_i(y) = right Σ_i w_i, with p_i = softmax(s_i/T) of the scores s_i [K]
//	Symbols  w_i weight of row i; right the share of these rows whose class is found
//	Stops    halving log T between the logarithm of the usual temperature ± reach, within 1e-10; at an end of these
//	         where no T gives the share
//	Cost     38 passes over the scores
func temperature(job *work.Job, rows crossfit.Scored, classes int, right, usual float64) float64 {
	low, high, total := -reach, reach, vector.Sum(rows.Weight)
	for high-low > 1e-10 {
		middle := (low + high) / 2
		if confidence(job, rows, classes, usual*math.Exp(middle)) > right*total {
			low = middle
		} else {
			high = middle
		}
	}
	return usual * math.Exp((low+high)/2)
}

const (
	reach     = 12.0
	extraRows = 0.2 // rows of each class that smoothing adds
)

// smoothing is e = cK / (l + cK): c = extraRows of each class are added to l rows (Platt 1999, section 2.2).
func smoothing(rows float64, classes int) float64 {
	extra := extraRows * float64(classes)
	return extra / (rows + extra)
}

// confidence is Σ w max p.
func confidence(job *work.Job, rows crossfit.Scored, classes int, t float64) float64 {
	var total [1]float64
	job.SumRows(len(rows.Weight), classes, total[:], func(i int, part, odds []float64) {
		scores := rows.Views[0][i*classes : (i+1)*classes]
		largest := vector.Max(scores)
		for y, s := range scores {
			odds[y] = (s - largest) / t
		}
		vector.Exp(odds)
		part[0] += rows.Weight[i] / vector.Sum(odds)
	})
	return total[0]
}

// probability sets p [K] to the probabilities (1 - e) softmax(s/T) + e/K of scores s [K].
func probability(p, s []float64, t, e float64) {
	for y, score := range s {
		p[y] = score / t
	}
	vector.Softmax(p, p)
	for y := range p {
		p[y] = (1-e)*p[y] + e/float64(len(p))
	}
}
