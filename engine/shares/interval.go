package shares

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Bootstrap says how an interval is found.
type Bootstrap struct {
	Times int
	Level float64 // probability that the interval holds the share
	Seed  int
}

// Usual is the bootstrap where no other is asked for: that of the warning of a fit, too.
var Usual = Bootstrap{Times: 50, Level: 0.9}

// Interval gives the ends [K] of an interval around each of the shares [K] found from the evidence.
//
//	Problem  the share of a class lies between its ends with the probability Level, over draws of labels and rows
//	Method   Bayesian bootstrap without new fits: Times estimates from the rows held out with random weights,
//	         exponentially distributed, whose total stays the same in each class, and from a part of the unlabeled rows
//	         with such weights; the calibration expects random biases with the variance that its penalty stands for, as
//	         few labels leave open what the penalty decides. The ends are the share ± Student's quantile of Times - 1
//	         degrees of freedom · the root mean square distance of these estimates from it: being off on average counts
//	         as being off by chance
//	Symbols  the part of the unlabeled rows has l/e rows, by which the estimate counts what is known (Shares)
//	Source   Newton & Raftery 1994 (weighted likelihood bootstrap); the part is ours. Planted text, 2 to 8 classes, as
//	         many labels of each, 50 draws: intervals at level 0.9 hold 84 to 100 of 100 shares with 24 to 240 labels,
//	         and 60 to 100 with all unlabeled rows in each estimate; with 12 labels 56 to 96 and 20 to 68 (where nearly
//	         all rows are of one class, the estimate itself is pulled to the shares of so few labels)
//	Cost     Times calibrations and runs of EM
func (e *Evidence) Interval(job *work.Job, shares []float64, b Bootstrap) (lower, upper []float64) {
	lower, upper = make([]float64, e.Classes), slices.Repeat([]float64{1}, e.Classes)
	if len(e.Unlabeled.Weight) == 0 {
		return lower, upper // no row could be held out: nothing is known
	}
	squares, most, doubt := make([][]float64, b.Times), e.worth(job), e.doubt(job)
	job.Run(b.Times, func(i int) {
		job.Check()
		random := rand.New(rand.NewPCG(uint64(b.Seed), uint64(i)))
		one := work.NewJob(1, nil)
		drawn, _ := e.drawn(random, most).shift(one, biases(random, e.Classes)).find(one, shares)
		squares[i] = make([]float64, e.Classes)
		for y, share := range drawn {
			squares[i][y] = (share - shares[y]) * (share - shares[y])
		}
	})
	quantile := student((1+b.Level)/2, float64(b.Times-1))
	for y, share := range shares {
		mean := share * (1 - share) * doubt
		for _, square := range squares {
			mean += square[y] / float64(b.Times)
		}
		if reach := quantile * math.Sqrt(mean); reach < 1 {
			lower[y], upper[y] = max(0, share-reach), min(1, share+reach)
		}
	}
	return lower, upper
}

// drawn is the evidence with random weights, and at most so many of its unlabeled rows.
func (e *Evidence) drawn(random *rand.Rand, most float64) *Evidence {
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
	scores.Unlabeled = crossfit.Scored{}
	rows, width := len(e.Unlabeled.Weight), e.Views*e.Classes
	for _, i := range random.Perm(rows)[:int(max(1, min(float64(rows), most)))] {
		scores.Unlabeled.Scores = append(scores.Unlabeled.Scores, e.Unlabeled.Scores[i*width:(i+1)*width]...)
		scores.Unlabeled.Weight = append(scores.Unlabeled.Weight, e.Unlabeled.Weight[i]*random.ExpFloat64())
	}
	return &Evidence{&scores}
}

// worth is the number of unlabeled rows that what is known of them is worth, l/e.
func (e *Evidence) worth(job *work.Job) float64 {
	held, _ := e.calibrated(job.Local(), make([]float64, e.Classes))
	return vector.Sum(e.Totals) / e.difficulty(held, e.labelShares())
}

// doubt is the variance of a share that the rows held out leave open, over share (1 - share): that of l/e rows drawn at
// random, where one more of two more rows is wrong.
func (e *Evidence) doubt(job *work.Job) float64 {
	held, _ := e.calibrated(job.Local(), make([]float64, e.Classes))
	labels, n := e.labelShares(), vector.Sum(e.Held.Weight)
	guesses := 1 - vector.Dot(labels, labels)
	wrong := e.difficulty(held, labels) * guesses * n
	return 1 / (1 + vector.Sum(e.Totals)/min(1, (wrong+1)/(n+2)/guesses))
}

// biases draws those that the calibration expects from the normal distribution that its penalty stands for.
func biases(random *rand.Rand, classes int) []float64 {
	out := make([]float64, classes)
	for y := range out {
		out[y] = random.NormFloat64()
	}
	vector.Scale(out, 1/math.Sqrt(biasRows))
	return out
}

// student is the quantile of Student's distribution at p > 1/2.
func student(p, freedom float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 2*(1-p))
	return math.Sqrt(freedom * (1 - x) / x)
}
