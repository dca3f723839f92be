package shares

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Shares are the shares of the classes among the unlabeled rows, each above 0, and the probability that the labeled
// rows were drawn at random from rows with these shares.
func (e *Evidence) Shares(job *work.Job) (shares []float64, drawn float64) {
	job = job.Local()
	if len(e.Unlabeled.Weight) == 0 {
		return e.labelShares(), 1
	}
	s := e.shift(job, make([]float64, e.Classes))
	shares, drawn = s.find(job, e.labelShares())
	s.shrink(job, shares, drawn)
	return shares, drawn
}

// FromLabels is the distance of shares [K] from those of the labeled rows.
func (e *Evidence) FromLabels(shares []float64) float64 { return Distance(shares, e.labelShares()) }

// Distance is the total variation distance of shares.
func Distance(shares, others []float64) float64 { return floats.Distance(shares, others, 1) / 2 }

// labelShares are the shares [K] of the labeled rows.
func (e *Evidence) labelShares() []float64 {
	return floats.ScaleTo(make([]float64, e.Classes), 1/vector.Sum(e.Totals), e.Totals)
}

// shift finds class shares from calibrated evidence.
//
//	Problem  max over φ  l/(1+e) Σ_i w_i log Σ_y φ_y p_iy / m_y + Σ_y a_y log φ_y: the probabilities come from l labels,
//	         so unlabeled rows count as l rows at most, fewer where classes are hard to tell apart
//	Symbols  a Dirichlet prior (halfRow K + ρ l e) π̃; π̃ expected shares: smoothed label shares, but see expect; ρ
//	         probability that labels were drawn at random (atRandom); e error of rows held out over the error of
//	         guessing: the variance of the estimate over the variance of label shares. A class with one label, which is
//	         never held out, keeps π̃
//	Source   as in the package; ρ and a are ours
//	Stops    EM when no step changes the shares by more than emChange in sum, or after emSteps
//	Cost     a step is one pass over the scores
type shift struct {
	*Evidence
	ratios       []float64 // [unlabeled, K] p_iy / m_y
	expected     []float64 // [K] π̃
	known, worth float64   // l/(1+e), l e
}

// shift calibrates the scores with these expected biases [K].
func (e *Evidence) shift(job *work.Job, biases []float64) *shift {
	held, unlabeled := e.calibrated(job, biases)
	total, labels := vector.Sum(e.Totals), smoothed(e.Totals)
	difficulty := e.difficulty(held, labels)
	return &shift{e, e.ratios(held, unlabeled), labels, total / (1 + difficulty), total * difficulty}
}

// find runs EM from start [K].
func (s *shift) find(job *work.Job, start []float64) (shares []float64, drawn float64) {
	prior := func(rows float64) []float64 {
		return floats.ScaleTo(make([]float64, s.Classes), rows+halfRow*float64(s.Classes), s.expected)
	}
	start = slices.Clone(start)
	s.keep(start, s.expected)
	shares = s.maximize(job, prior(0), start)
	drawn, picked := atRandom(s.Totals, shares)
	s.expect(picked)
	return s.maximize(job, prior(drawn*s.worth), shares), drawn
}

// expect moves the expected shares from those of the labels to those that their classifier predicts, by as much as the
// difference is no chance, where the labels were chosen, of each class the same number: with this probability they say
// nothing of shares.
//
//	Source   ours, after James & Stein 1961. Measured in docs/notes/class-shares.md
func (s *shift) expect(picked float64) {
	noise := predictedOff * math.Sqrt(float64(s.Classes)/vector.Sum(s.Totals))
	off := Distance(s.Predicted, s.expected)
	if part := picked * (1 - noise/off); part > 0 {
		moved := make([]float64, s.Classes)
		for y, share := range s.expected {
			moved[y] = max(leastShare, share+part*(s.Predicted[y]-share))
		}
		vector.Normalize(moved)
		s.expected = moved
	}
}

// shrink moves shares [K] towards the expected shares, by as much as differences of their size are chance: x, twice the
// logarithm of their likelihood ratio, is a chi-square variable of K-1 degrees of freedom where the rows have these
// shares. Where labels look drawn at random the prior of find has done this.
//
//	Source   James & Stein 1961 (the positive part); the constant chance, small as x counts few rows, is ours. Measured
//	         in docs/notes/class-shares.md
func (s *shift) shrink(job *work.Job, shares []float64, drawn float64) {
	var sums [2]float64 // log likelihood ratio of both, weight
	job.SumRows(len(s.Unlabeled.Weight), 0, sums[:], func(i int, part, _ []float64) {
		row, weight := s.ratios[i*s.Classes:(i+1)*s.Classes], s.Unlabeled.Weight[i]
		part[0] += weight * math.Log(vector.Dot(shares, row)/vector.Dot(s.expected, row))
		part[1] += weight
	})
	x, noise := 2*(s.known*sums[0]/sums[1]), (1-drawn)*chance*float64(s.Classes-1)
	kept := max(0, 1-noise/max(x, math.SmallestNonzeroFloat32))
	for y, share := range s.expected {
		shares[y] = share + kept*(shares[y]-share)
	}
}

const (
	halfRow = 0.5 // rows of each class in the Dirichlet prior
	chance  = 0.1 // factor on the degrees of freedom in shrink

	predictedOff = 0.1 // distance of predicted shares from the true ones, times the root of the labels of a class
	leastShare   = 1e-4

	emChange = 1e-6
	emSteps  = 2000
)

// calibrated are the probabilities [held, K] and [unlabeled, K] of the classes.
func (e *Evidence) calibrated(job *work.Job, biases []float64) (held, unlabeled []float64) {
	rows, others := crossfit.Scored{Weight: e.Held.Weight}, [][]float64(nil)
	for v, scores := range e.Held.Views {
		spread := e.spread(scores)
		rows.Views = append(rows.Views, divided(scores, spread))
		others = append(others, divided(e.Unlabeled.Views[v], spread))
	}
	c := calibrate(job, rows, e.Class, biases)
	return c.probabilities(rows.Views), c.probabilities(others)
}

// ratios turns calibrated probabilities of the unlabeled rows into p_iy / m_y.
func (e *Evidence) ratios(held, unlabeled []float64) []float64 {
	k := e.Classes
	mean, total := make([]float64, k), vector.Sum(e.Held.Weight)
	for i, w := range e.Held.Weight {
		vector.Add(mean, w/total, held[i*k:(i+1)*k])
	}
	for at := range unlabeled {
		unlabeled[at] /= max(mean[at%k], 1e-100)
	}
	return unlabeled
}

// spread is the standard deviation of the scores of held-out rows, 1 where all are equal.
func (e *Evidence) spread(scores []float64) float64 {
	square, n := 0.0, float64(e.Classes)*vector.Sum(e.Held.Weight)
	for at, s := range scores {
		square += e.Held.Weight[at/e.Classes] * s * s / n // their mean is 0
	}
	if square > 0 {
		return math.Sqrt(square)
	}
	return 1
}

func divided(scores []float64, spread float64) []float64 {
	out := make([]float64, len(scores))
	for at, s := range scores {
		out[at] = s / spread
	}
	return out
}

// difficulty is the error of probabilities [held, K] over the error of guessing by the label shares.
func (e *Evidence) difficulty(held, labels []float64) float64 {
	return min(1, e.Wrong(held)/vector.Sum(e.Held.Weight)/(1-vector.Dot(labels, labels)))
}

// smoothed are the label shares (n_y + b) / (l + b K) of weights totals [K]: empirical Bayes, with the b that maximizes
// the Dirichlet-multinomial likelihood of the totals, log b having the mean log 2 and the standard deviation 1.
func smoothed(totals []float64) []float64 {
	best, largest := 0.0, math.Inf(-1)
	for step := -40.0; step <= 40; step++ {
		rows := slices.Repeat([]float64{2 * math.Exp(step/10)}, len(totals))
		if value := logMultinomial(totals, rows) - step*step/200; value > largest {
			best, largest = rows[0], value
		}
	}
	shares, l := make([]float64, len(totals)), vector.Sum(totals)
	for y, n := range totals {
		shares[y] = (n + best) / (l + best*float64(len(totals)))
	}
	return shares
}

// maximize runs EM from phi; a is the Dirichlet prior.
func (s *shift) maximize(job *work.Job, a, phi []float64) []float64 {
	k, n := s.Classes, vector.Sum(s.Unlabeled.Weight)
	next := make([]float64, k)
	for range emSteps {
		job.Check()
		job.SumRows(len(s.Unlabeled.Weight), k, next, func(i int, part, joint []float64) {
			floats.MulTo(joint, s.ratios[i*k:(i+1)*k], phi)
			vector.Add(part, s.Unlabeled.Weight[i]/(n*vector.Sum(joint)), joint)
		})
		total := s.known + vector.Sum(a)
		for y := range next {
			next[y] = (s.known*next[y] + a[y]) / total
		}
		s.keep(next, phi)
		change := floats.Distance(next, phi, 1)
		phi = slices.Clone(next)
		if change < emChange {
			break
		}
	}
	return phi
}

// keep gives classes without held-out rows their share in others, and rescales the rest.
func (e *Evidence) keep(shares, others []float64) {
	known, kept, free := make([]bool, e.Classes), 0.0, 0.0
	for _, y := range e.Class {
		known[y] = true
	}
	for y := range shares {
		if known[y] {
			free += shares[y]
		} else {
			kept += others[y]
		}
	}
	for y := range shares {
		if known[y] {
			shares[y] *= (1 - kept) / free
		} else {
			shares[y] = others[y]
		}
	}
}

// atRandom is the probability that labels of the weights totals [K] were drawn at random from these shares, against two
// hypotheses of equal prior: the same number of each class, or one more, was chosen; or any shares are equally likely.
// The shares themselves are known as from l rows. picked is the probability of the former against a draw alone.
func atRandom(totals, shares []float64) (drawn, picked float64) {
	l, k := vector.Sum(totals), float64(len(totals))
	known := floats.ScaleTo(make([]float64, len(shares)), l, shares)
	even := slices.Repeat([]float64{1}, len(shares))
	hypotheses := []float64{logMultinomial(totals, known), logMultinomial(totals, even)}
	if slices.Max(totals)-slices.Min(totals) <= 1+1e-9 { // sums are rounded
		over := l - k*math.Floor(l/k)
		hypotheses = append(hypotheses, lgamma(over+1)+lgamma(k-over+1)-lgamma(k+1))
	}
	vector.Softmax(hypotheses, hypotheses)
	if len(hypotheses) == 3 {
		picked = hypotheses[2] / (hypotheses[0] + hypotheses[2])
	}
	return hypotheses[0], picked
}

// logMultinomial is the log likelihood of counts under a Dirichlet-multinomial distribution with the parameters a.
func logMultinomial(counts, a []float64) float64 {
	l, rows := vector.Sum(counts), vector.Sum(a)
	value := lgamma(l+1) + lgamma(rows) - lgamma(l+rows)
	for y, n := range counts {
		value += lgamma(n+a[y]) - lgamma(a[y]) - lgamma(n+1)
	}
	return value
}

func lgamma(x float64) float64 {
	value, _ := math.Lgamma(x)
	return value
}
