package transduction

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/loss"
)

// anneal is deterministic annealing.
//
//	Problem  at temperature T: min over w, p  α/2 |w|² + Σ_i s_i ξ(y_i f_i) + λ' Σ_j s_j [p_j ξ(f_j) + (1-p_j)
//	         ξ(-f_j)] + T Σ_j s_j [p_j log p_j + (1-p_j) log(1-p_j)]  subject to Σ_j s_j p_j = r, while T falls to 0
//	Symbols  i labeled, j unlabeled rows; s weights, each kind sums to 1; p_j probability that row j is positive; λ'
//	         weight of the unlabeled rows; r class prior; ξ squared hinge
//	Source   Sindhwani & Keerthi 2006 section 3.2. Differences: they alternate exact solves for w and p; here p is a
//	         function of w, see freeEnergy, and w takes inexact Newton steps on the way. T starts where the soft
//	         labels begin to differ, and λ' is at most mostOverAlpha α until they are hard. An exact solve at hard
//	         labels ends the run, with switches while they help
//	Stops    the mean entropy of p falls below smallEntropy bits; T falls below coldest times its start; max_iter
//	         steps, of which the solve at hard labels is the last: with one step that is all there is
//	Cost     a temperature: about 10 passes over the active rows
func (t *task) anneal() solution {
	margin := loss.SquaredHinge{}
	r, newton, start := t.begin()
	if lost(start) {
		return t.read(r, start, ending{reason: "not_finite"})
	}
	t.level = t.softWeight()
	t.softCosts(r.Plus, r.Minus, constant(len(t.unlabeled), t.prior))
	r.Recost()
	t.joined = true
	t.noteSupervised(sideOf(r.Scores()))
	energy := newFreeEnergy(t, r, margin)
	before := make([]float64, len(energy.p))
	var end ending
	first := t.firstTemperature(r.Scores(), margin)
	begin, factor := t.schedule(first)
	for energy.temperature = begin; !t.spent(&end); energy.temperature /= factor {
		temperature := energy.temperature
		copy(before, energy.p)
		if outcome := newton.Minimize(energy, t.pathLimits()); lost(outcome) {
			return t.read(r, outcome, ending{reason: "not_finite"})
		}
		end.steps++
		entropy := labeling.Entropy(t.job, energy.p, t.unlabeledWeight)
		t.record(r.Regularizer(), r.Scores(), margin, temperature, crossings(energy.p, before), entropy)
		if entropy < smallEntropy {
			end.reason = "entropy"
			break
		}
		if temperature < coldest*first {
			end.reason = "temperature"
			break
		}
	}
	if end.steps == 0 {
		energy.relabel(0)
	}
	t.level = t.options.UnlabeledWeight
	t.distribute(energy.p)
	positive := make([]bool, len(energy.p))
	labeling.Top(positive, energy.p, t.unlabeledWeight, t.prior, before)
	return t.finish(r, newton, positive, hardened(positive, energy.p), 0, end)
}

// The schedule. Measured on text1, 20 Newsgroups and Reuters: an earlier start, slower cooling or tighter solves
// on the way cost passes and change errors by less than one draw of the labels does.
const (
	warmth        = 2.0  // the first temperature is at least this many times the spread of the preferences, and λ'
	cooling       = 1.4  // T falls by this factor
	smallEntropy  = 1e-3 // bits a row: from here on no label moves any more
	coldest       = 1e-4 // of the first temperature: equal rows at the threshold may stay undecided for ever
	pathLooseness = 10.0 // solves on the way may end at this many times tol
	pathSteps     = 30   // Newton steps a temperature
	pathLine      = 0.3  // fraction of the slope at which a line search along F_T may end
	settleRounds  = 100
)

// mostOverAlpha bounds λ' while labels are soft, in units of α. At a high temperature every unlabeled row costs
// λ' (1 + f²) / 2, which whitens: where α is small beside λ' and the variance of the rows, the first solutions take the
// directions of least variance that fit the few labels, and cooling hardens that. At λ' = 1000 α labels harden as they
// do with the defaults; at any smaller α the exact solve at hard labels is then the first one with the whole λ'.
// Measured at α = 1e-5 and 1e-6: on text1 errors of 7.9 and 13.3 % become 5.8 and 5.7 %, on pcmac 26 and 31 % become
// 10 %, in a quarter of the passes; on 400 rows of counts with 6 labels 40 and 49 % become 0. To let λ'
// rise while T falls ends within 2 % of the same objective after more passes; to bound it by 100 α costs 1 to 3 points
// at the default α.
const mostOverAlpha = 1000.0

// softWeight is λ' while labels are soft. A start has labels already, and the schedule of the maxent loss begins where
// the unlabeled rows cost nothing: to bound λ' as well took 2 to 3 points of accuracy from it (20 Newsgroups,
// α = 1e-4).
func (s *sample) softWeight() float64 {
	if s.start != nil || s.options.Loss == "maxent" {
		return s.options.UnlabeledWeight
	}
	return min(s.options.UnlabeledWeight, mostOverAlpha*s.options.Alpha)
}

// firstTemperature is high enough for soft labels that hardly differ yet: λ' for rows of unit length, more where the
// supervised scores are far apart.
func (t *task) firstTemperature(scores []float64, margin loss.Margin) float64 {
	g := make([]float64, len(t.unlabeled))
	t.preferences(g, scores, margin)
	var sums [2]float64 // Σ s g, Σ s g²
	t.job.Sum(len(g), sums[:], func(lo, hi int, dst []float64) {
		for k := lo; k < hi; k++ {
			dst[0] += t.unlabeledWeight[k] * g[k]
			dst[1] += t.unlabeledWeight[k] * g[k] * g[k]
		}
	})
	spread := math.Sqrt(max(0, sums[1]-sums[0]*sums[0]))
	return max(t.level, warmth*spread)
}

// softCosts makes every unlabeled row cost its weight times p_j as positive, 1-p_j as negative.
func (t *task) softCosts(plus, minus, p []float64) {
	t.job.EachRow(len(p), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i, cost := t.unlabeled[k], t.level*t.unlabeledWeight[k]
			plus[i], minus[i] = cost*p[k], cost*(1-p[k])
		}
	})
}

// distribute keeps the soft labels of all rows; given labels are certain, rows of weight 0 follow the class prior.
func (t *task) distribute(p []float64) {
	all := make([]float64, 2*t.rows.Rows())
	for i := range t.rows.Rows() {
		all[2*i], all[2*i+1] = 1-t.prior, t.prior
	}
	for k, i := range t.labeled {
		all[2*i], all[2*i+1] = 1, 0
		if t.positive[k] {
			all[2*i], all[2*i+1] = 0, 1
		}
	}
	for k, i := range t.unlabeled {
		all[2*i], all[2*i+1] = 1-p[k], p[k]
	}
	t.distributions = all
}

// crossings counts the rows whose more likely label changed.
func crossings(p, before []float64) int {
	count := 0
	for k := range p {
		if (p[k] > 0.5) != (before[k] > 0.5) {
			count++
		}
	}
	return count
}

// hardened counts the rows whose hard label is not the more likely one of their soft labels.
func hardened(positive []bool, p []float64) int {
	count := 0
	for k := range p {
		if positive[k] != (p[k] > 0.5) {
			count++
		}
	}
	return count
}

func constant(n int, value float64) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = value
	}
	return out
}
