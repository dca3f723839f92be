package shares

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Shares gives the share of each class among the unlabeled rows, each above 0, together 1, and how probable it is that
// the labeled rows were drawn at random from rows with these shares.
func (e *Evidence) Shares(job *work.Job) (shares []float64, drawn float64) {
	job = job.Local()
	if len(e.Unlabeled.Weight) == 0 {
		return e.labelShares(), 1
	}
	s := e.shift(job, make([]float64, e.Classes))
	found, drawn := s.find(job, e.labelShares())
	s.shrink(job, found, drawn)
	return found, drawn
}

// labelShares are the shares [K] of the labeled rows.
func (e *Evidence) labelShares() []float64 {
	labels := make([]float64, e.Classes)
	vector.Add(labels, 1/vector.Sum(e.Totals), e.Totals)
	return labels
}

// shift finds class shares from calibrated evidence.
//
//	Problem  max over φ  l/(1+e) Σ_i w_i log Σ_y φ_y p_iy / m_y + Σ_y a_y log φ_y: all that is known of the unlabeled
//	         rows came through l labels, so they count as l rows at most, fewer where classes are hard to tell apart
//	Symbols  a Dirichlet prior: halfRow for each class, spread as the smoothed label shares π̃ (smoothed) are; if the
//	         labels look drawn at random, also ρ l e π̃; ρ chance that they were (atRandom); e share of wrong answers on
//	         rows held out over that of guessing: the variance of the estimate over that of the labels' shares. A class
//	         whose label is in every training part (it has only one) keeps π̃: m says nothing of it
//	Source   as in the package; ρ and a are ours
//	Stops    EM when no step changes the shares by more than emChange in sum, or after emSteps
//	Cost     a step is one pass over the scores
type shift struct {
	*Evidence
	ratios       []float64 // [unlabeled, K] p_iy / m_y
	labels       []float64 // [K] π̃
	known, worth float64   // l/(1+e), l e
}

// shift calibrates the scores; biases [K] are what the calibration expects.
func (e *Evidence) shift(job *work.Job, biases []float64) *shift {
	held, unlabeled := e.calibrated(job, biases)
	total, labels := vector.Sum(e.Totals), smoothed(e.Totals)
	difficulty := e.difficulty(held, labels)
	return &shift{e, e.ratios(held, unlabeled), labels, total / (1 + difficulty), total * difficulty}
}

// find runs EM from start [K].
func (s *shift) find(job *work.Job, start []float64) (shares []float64, drawn float64) {
	beside := func(rows float64) []float64 {
		prior := make([]float64, s.Classes)
		vector.Add(prior, rows+halfRow*float64(s.Classes), s.labels)
		return prior
	}
	start = slices.Clone(start)
	s.keep(start, s.labels)
	found := s.maximize(job, s.known, beside(suspicion*s.worth), start)
	drawn = atRandom(s.Totals, found)
	return s.maximize(job, s.known, beside(drawn*s.worth), found), drawn
}

// shrink moves shares [K] that were found towards those of the labels, by as much as differences of their size are
// chance: x is twice the logarithm of their likelihood ratio, which is a chi-square variable of K-1 degrees of freedom
// where the labels have the shares of the rows. Where the labels look drawn at random the prior of find has done this.
//
//	Source   James & Stein 1961 (the positive part); that a degree of freedom counts as chance, since x counts so few
//	         rows, is ours: of 0.1, 0.2, 0.3, 0.5 and 1 the first was best on choosing sets of crossfit/mixture.go and
//	         embeddings, total variation distance .098 → .086
//	Ablation macro F of fits with 2, 5, 20 equal labels +.027, +.011, +.004 on seven choosing sets (.087 of 20
//	         Newsgroups with 2), with random ones +.006, +.008, 0; on 17 others +.020 (between -.064 and .213), +.003,
//	         -.002, and 0, -.004, 0
//	         With half a row for five classes instead of one and three times the chance the distance falls from .163,
//	         .115, .059 to .151, .100, .054 (15 sets), but macro F of fits is the same: -.003, +.003 with 2 and 5 equal
//	         labels, +.001, +.001 with random ones (25 sets, two draws), as rare classes then get fewer rows
func (s *shift) shrink(job *work.Job, found []float64, drawn float64) {
	x, noise := 2*s.likelier(job, found, s.labels), (1-drawn)*chance*float64(s.Classes-1)
	kept := max(0, 1-noise/max(x, math.SmallestNonzeroFloat32))
	for y, label := range s.labels {
		found[y] = label + kept*(found[y]-label)
	}
}

// likelier is the logarithm of the likelihood of the unlabeled rows at some shares over that at others, both [K], in
// rows that are known.
func (s *shift) likelier(job *work.Job, some, others []float64) float64 {
	var sums [2]float64 // log likelihood ratio, weight
	job.Sum(len(s.Unlabeled.Weight), sums[:], func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			row := s.ratios[i*s.Classes : (i+1)*s.Classes]
			part[0] += s.Unlabeled.Weight[i] * math.Log(vector.Dot(some, row)/vector.Dot(others, row))
			part[1] += s.Unlabeled.Weight[i]
		}
	})
	return s.known * sums[0] / sums[1]
}

const (
	halfRow   = 0.5  // of each class, before anything is known
	chance    = 0.1  // of a degree of freedom in shrink
	suspicion = 0.05 // ρ until the shares are found
	emChange  = 1e-6
	emSteps   = 2000
	knownFrom = 1.0 / 3 // of a labeled row: in so many rows the shares that are found count as known
)

// calibrated gives the probabilities [held, K] and [unlabeled, K] of the classes.
func (e *Evidence) calibrated(job *work.Job, biases []float64) (held, unlabeled []float64) {
	spreads := e.spreads()
	rows := crossfit.Scored{Scores: e.divided(e.Held.Scores, spreads), Weight: e.Held.Weight}
	c := calibrate(job, rows, e.Class, biases)
	probabilities := func(scores []float64) []float64 {
		k, width := e.Classes, e.Classes*e.Views
		n := len(scores) / width
		out := make([]float64, n*k)
		job.EachRow(n, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				c.softmax(out[i*k:(i+1)*k], scores[i*width:(i+1)*width])
			}
		})
		return out
	}
	return probabilities(rows.Scores), probabilities(e.divided(e.Unlabeled.Scores, spreads))
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

// spreads are the standard deviations [V] of the scores of held-out rows, 1 where all are equal.
func (e *Evidence) spreads() []float64 {
	spreads, width, n := make([]float64, e.Views), e.Views*e.Classes, float64(e.Classes)*vector.Sum(e.Held.Weight)
	for at, s := range e.Held.Scores {
		spreads[at%width/e.Classes] += e.Held.Weight[at/width] * s * s / n // their mean is 0
	}
	for v, square := range spreads {
		spreads[v] = math.Sqrt(square)
		if !(square > 0) {
			spreads[v] = 1
		}
	}
	return spreads
}

// divided are scores [n, V K] in units of the spread of their view.
func (e *Evidence) divided(scores, spreads []float64) []float64 {
	out := make([]float64, len(scores))
	for at, s := range scores {
		out[at] = s / spreads[at/e.Classes%e.Views]
	}
	return out
}

// difficulty is the share of wrong answers on the rows held out over that of guesses with the shares of the labels, for
// probabilities [held, K].
func (e *Evidence) difficulty(held, labels []float64) float64 {
	wrong := 0.0
	for i, w := range e.Held.Weight {
		if best := vector.Largest(held[i*e.Classes : (i+1)*e.Classes]); best != int(e.Class[i]) {
			wrong += w
		}
	}
	return min(1, wrong/vector.Sum(e.Held.Weight)/(1-vector.Dot(labels, labels)))
}

// smoothed are the shares of labels of the weights totals [K], (n_y + b) / (l + b K): empirical Bayes, with the b that
// maximizes the Dirichlet-multinomial likelihood of the totals under a weak prior, a standard deviation of 1 for log b
// around log 2. With labels drawn at random from 20 classes of nearly the same size the estimate is off by 0.11 instead
// of 0.19; elsewhere it changes little.
func smoothed(totals []float64) []float64 {
	best, most := 0.0, math.Inf(-1)
	rows := make([]float64, len(totals))
	for step := -40.0; step <= 40; step++ {
		for y := range rows {
			rows[y] = 2 * math.Exp(step/10)
		}
		if value := logMultinomial(totals, rows) - step*step/200; value > most {
			best, most = rows[0], value
		}
	}
	shares, l := make([]float64, len(totals)), vector.Sum(totals)
	for y, n := range totals {
		shares[y] = (n + best) / (l + best*float64(len(totals)))
	}
	return shares
}

// maximize runs EM from phi; the unlabeled rows count as l rows beside the Dirichlet prior a.
func (s *shift) maximize(job *work.Job, l float64, a, phi []float64) []float64 {
	k, n := s.Classes, vector.Sum(s.Unlabeled.Weight)
	next := make([]float64, k)
	for range emSteps {
		job.Check()
		job.Sum(len(s.Unlabeled.Weight), next, func(lo, hi int, part []float64) {
			joint := make([]float64, k)
			for i := lo; i < hi; i++ {
				sum := 0.0
				for y, r := range s.ratios[i*k : (i+1)*k] {
					joint[y] = r * phi[y]
					sum += joint[y]
				}
				vector.Add(part, s.Unlabeled.Weight[i]/(n*sum), joint)
			}
		})
		change, total := 0.0, l+vector.Sum(a)
		for y := range next {
			next[y] = (l*next[y] + a[y]) / total
		}
		s.keep(next, phi)
		for y := range next {
			change += math.Abs(next[y] - phi[y])
		}
		phi = slices.Clone(next)
		if change < emChange {
			break
		}
	}
	return phi
}

// keep gives the classes of which no row was held out the share that they have in others, and the rest to the others.
func (e *Evidence) keep(shares, others []float64) {
	known := e.Known()
	kept, free := 0.0, 0.0
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

// atRandom is the probability that labels of the weights totals [K] were drawn at random from the shares found, against
// two other stories that are as likely beforehand: they were picked, as many of each class or one more; or they were
// picked somehow, and any shares are as likely as any others.
func atRandom(totals, found []float64) float64 {
	l, k := vector.Sum(totals), float64(len(totals))
	known, even := make([]float64, len(found)), make([]float64, len(found))
	least, most := math.Inf(1), 0.0
	for y, share := range found {
		known[y], even[y] = share*l*knownFrom, 1
		least, most = min(least, totals[y]), max(most, totals[y])
	}
	stories := []float64{logMultinomial(totals, known), logMultinomial(totals, even)}
	if most-least <= 1+1e-9 { // sums are rounded
		over := l - k*math.Floor(l/k)
		stories = append(stories, lgamma(over+1)+lgamma(k-over+1)-lgamma(k+1))
	}
	normalizeExp(stories)
	return stories[0]
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
