package shares

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Interval gives the ends [K] of an interval around each of the shares [K]; 0 and 1 where nothing is known of them.
//
//	Problem  the share of a class lies between its ends with the probability Level, over draws of labels and rows
//	Method   Bayesian bootstrap without new fits: Times estimates from the rows held out and l/e of the unlabeled rows
//	         (see shift), with exponential random weights whose total stays the same in each class, and with random
//	         expected biases, as few labels leave these open. The ends are the share ± Student's quantile · the root
//	         mean square distance of these estimates from it, which includes their bias
//	Source   Newton & Raftery 1994 (weighted likelihood bootstrap); the number of unlabeled rows is ours. Measured in
//	         docs/notes/class-shares.md
//	Cost     Times calibrations and runs of EM
func (p *Prior) Interval(job *work.Job, o Options) (lower, upper []float64) {
	e, shares, classes := p.Evidence, p.Shares, len(p.Shares)
	lower, upper = make([]float64, classes), slices.Repeat([]float64{1}, classes)
	if e == nil || len(e.Unlabeled.Weight) == 0 { // descriptions alone, or no row could be held out
		return lower, upper
	}
	estimates := make([][]float64, o.Times)
	rows, doubt := e.worth(job)
	job.Run(o.Times, func(i int) {
		job.Check()
		random := rand.New(rand.NewPCG(uint64(o.Seed), uint64(i)))
		single := work.NewJob(1, nil)
		estimates[i], _ = e.drawn(random, rows).shift(single, biases(random, classes)).find(single, shares)
	})
	quantile := distuv.StudentsT{Sigma: 1, Nu: float64(o.Times - 1)}.Quantile((1 + o.Level) / 2)
	for y, share := range shares {
		mean := share * (1 - share) * doubt
		for _, estimate := range estimates {
			mean += (estimate[y] - share) * (estimate[y] - share) / float64(o.Times)
		}
		if reach := quantile * math.Sqrt(mean); reach < 1 {
			lower[y], upper[y] = max(0, share-reach), min(1, share+reach)
		}
	}
	return lower, upper
}

// drawn is the evidence with random weights, and at most maxRows of its unlabeled rows.
func (e *Evidence) drawn(random *rand.Rand, maxRows float64) *Evidence {
	scores := *e.Scores
	scores.Held.Weight = slices.Clone(e.Held.Weight)
	before, after := make([]float64, e.Classes), make([]float64, e.Classes)
	for i, y := range e.Class {
		before[y] += scores.Held.Weight[i]
		scores.Held.Weight[i] *= random.ExpFloat64()
		after[y] += scores.Held.Weight[i]
	}
	for i, y := range e.Class {
		scores.Held.Weight[i] *= before[y] / after[y]
	}
	scores.Unlabeled = crossfit.Scored{Views: make([][]float64, len(e.Unlabeled.Views))}
	rows := len(e.Unlabeled.Weight)
	for _, i := range random.Perm(rows)[:int(max(1, min(float64(rows), maxRows)))] {
		for v, view := range e.Unlabeled.Views {
			scores.Unlabeled.Views[v] = append(scores.Unlabeled.Views[v], view[i*e.Classes:(i+1)*e.Classes]...)
		}
		scores.Unlabeled.Weight = append(scores.Unlabeled.Weight, e.Unlabeled.Weight[i]*random.ExpFloat64())
	}
	return &Evidence{&scores, e.Predicted}
}

// worth is l/e, the number of rows drawn at random that give as good an estimate, and the variance of a share over
// share (1 - share) with so many rows, where one of two further rows is wrong.
func (e *Evidence) worth(job *work.Job) (rows, doubt float64) {
	held, _ := e.calibrated(job.Local(), make([]float64, e.Classes))
	labels, l, n := e.labelShares(), vector.Sum(e.Totals), vector.Sum(e.Held.Weight)
	wrong, guesses := e.difficulty(held, labels), 1-vector.Dot(labels, labels)
	return l / wrong, 1 / (1 + l/min(1, (wrong*guesses*n+1)/(n+2)/guesses))
}

// biases draws expected biases of the calibration from their prior.
func biases(random *rand.Rand, classes int) []float64 {
	out := make([]float64, classes)
	for y := range out {
		out[y] = random.NormFloat64() * (1 / math.Sqrt(biasRows))
	}
	return out
}
