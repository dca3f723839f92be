package fit

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// anneal is deterministic annealing.
//
//	Problem  that of task with soft labels q, plus T Σ_j w_j Σ_y q_jy log q_jy, while T falls to 0
//	Symbols  as in task; T temperature; c_jy = λ' ξ(s_j, y); v_y potentials, which hold the class shares: q_jy is
//	         proportional to exp(-(c_jy - v_y) / T)
//	Source   Sindhwani & Keerthi 2006 section 3.2 for two classes, who mention the form for many (Potts); the labels
//	         under both kinds of sums as in Keerthi, Sundararajan & Shevade 2012. Differences: they alternate exact
//	         solves for w and q; here w takes inexact Newton steps, with q renewed before each: at the best q the
//	         gradient at fixed q is that of the free energy min over q, and the curvature at fixed q bounds its own from
//	         above. T starts where the soft labels begin to differ, and λ' is at most mostOverAlpha α until they are
//	         hard. An exact solve at hard labels ends the run, with switches while they help
//	Stops    the mean entropy of q falls below smallEntropy bits; T falls below coldest times its start; max_iter
//	         steps, of which the solve at hard labels is the last: with one step that is all there is
//	Cost     a temperature: about 10 passes over the active rows; a renewal of q is some ten exp a row and class
func (t *task) anneal() solution {
	r, newton, start := t.begin()
	if !finite(start) {
		return t.read(r, start, stop{reason: ending.NotFinite})
	}
	t.level = t.softWeight()
	soft := t.soften(r)
	t.noteFirst(r.Score)
	cooling := t.cooling()
	end := t.follow(r, newton.Minimize, soft, cooling, t.energyLimits())
	switch {
	case end.reason == ending.NotFinite:
		return t.read(r, end.last, end)
	case end.steps == 0:
		soft.enter(cooling.temperature)
		soft.renew()
		soft.relabel()
	}
	t.level = t.Options.UnlabeledWeight
	t.soft = r.Soft
	t.measure(r)
	likeliest := t.perUnit(soft.labels)
	labels := slices.Clone(likeliest)
	t.cheapest(labels)
	return t.finish(r, newton, labels, t.Job.Count(differences(labels, likeliest)), 0, end)
}

// The schedule. Measured on text1, 20 Newsgroups and Reuters: an earlier start, slower cooling or tighter solves
// on the way cost passes and change errors by less than one draw of the labels does.
const (
	warmth       = 2.0  // the first temperature is at least this many times the spread of the preferences, and λ'
	coolBy       = 1.4  // T falls by this factor
	smallEntropy = 1e-3 // bits a row: from here on no label moves any more
	coldest      = 1e-4 // of the first temperature: equal rows at the threshold may stay undecided for ever
	pathLine     = 0.3  // fraction of the slope at which a line search on the way may end

	pathLooseness = 100 // solves on the way may end at this many times tol
)

// The schedule of the maxent loss: T begins at λ', the weight of the unlabeled rows, and falls slowly where labels
// harden. At the best labels, shares aside, these rows cost -T Σ_j w_j log Σ_y p_jy^(λ'/T): at T = λ' that is nothing,
// whatever the probabilities p_j, and just below it is λ'-T times their mean entropy, a weight that begins at 0.
// Measured with 20 labels on two groups of 20 Newsgroups: cooling by 1.4 from 2 λ' on ends at an objective 18 % higher,
// with 12 points less macro F, after as many passes; by 1.05 it gains a point, and takes 1.5 times the passes.
const (
	slowCoolBy = 1.1
	slowUntil  = 0.5
)

// cooling is the schedule of annealing.
type cooling struct {
	first, temperature, factor float64
	slowAbove                  float64 // temperature above which T falls by slowCoolBy
}

func (c *cooling) level() (value, shown float64) { return c.temperature, c.temperature }

func (c *cooling) next(_ int, entropy float64) ending.Reason {
	switch {
	case entropy < smallEntropy:
		return ending.Entropy
	case c.temperature < coldest*c.first:
		return ending.Temperature
	case c.temperature > c.slowAbove:
		c.temperature /= slowCoolBy
	default:
		c.temperature /= c.factor
	}
	return ending.None
}

// cooling begins at the first temperature; from a start at a part of it.
func (t *task) cooling() *cooling {
	first := t.firstTemperature()
	switch {
	case t.start != nil:
		return &cooling{first, coolStart * first, warmCoolBy, math.Inf(1)}
	case t.Options.Loss == method.Maxent:
		return &cooling{first, t.level, coolBy, slowUntil * t.level}
	}
	return &cooling{first, first, coolBy, math.Inf(1)}
}

// firstTemperature is high enough for soft labels that hardly differ yet: λ' for rows of unit length, more where the
// supervised scores are far apart; the spread is that of a class's cost beyond the mean of the row's. Beside a pair the
// losses of all classes add up: for two classes to twice that of the pair.
func (t *task) firstTemperature() float64 {
	k := t.classes
	sums := make([]float64, 2*k) // Σ w d, Σ w d² for the difference d of every class
	t.Job.Sum(len(t.Unlabeled), sums, func(lo, hi int, dst []float64) {
		for j := lo; j < hi; j++ {
			row := t.costs[j*k : (j+1)*k]
			mean := vector.Sum(row) / float64(k)
			for y, c := range row {
				dst[y] += t.UnlabeledWeight[j] * (c - mean)
				dst[k+y] += t.UnlabeledWeight[j] * (c - mean) * (c - mean)
			}
		}
	})
	spread := 0.0
	for y := range k {
		spread = max(spread, math.Sqrt(max(0, sums[k+y]-sums[y]*sums[y])))
	}
	least := 2 * t.level
	if t.Paired() {
		least = t.level
	}
	return max(least, 2*warmth*spread)
}

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
func (t *task) softWeight() float64 {
	if t.start != nil || t.Options.Loss == method.Maxent {
		return t.Options.UnlabeledWeight
	}
	return min(t.Options.UnlabeledWeight, mostOverAlpha*t.Options.Alpha)
}

// softLabels are the belief of annealing: the free energy at one temperature as a function of W, with the soft labels
// at their best values. Value and gap are those at these labels held fixed.
type softLabels struct {
	*risk.Risk
	task        *task
	temperature float64
	potentials  []float64 // [K] v
	labels      []int32   // [unlabeled] the likeliest ones
}

// soften gives the unlabeled rows soft labels, the class prior to begin with, and the weight of soft labels.
func (t *task) soften(r *risk.Risk) *softLabels {
	r.Soft = make([]float64, len(t.Unlabeled)*t.classes)
	for k, i := range t.Unlabeled {
		r.Label[i], r.Place[i] = -1, int32(k)
		r.Cost[i] = t.level * t.UnlabeledWeight[k]
		copy(r.Soft[k*t.classes:], t.prior)
	}
	r.UpdateSupport()
	t.measure(r)
	return &softLabels{Risk: r, task: t, potentials: make([]float64, t.classes), labels: make([]int32, len(t.Unlabeled))}
}

func (s *softLabels) enter(temperature float64) { s.temperature = temperature }

func (s *softLabels) relabel() (switched int, entropy float64) {
	t := s.task
	for j := range s.labels {
		y := int32(vector.Largest(s.Soft[j*t.classes : (j+1)*t.classes]))
		if s.labels[j] != y {
			s.labels[j] = y
			switched++
		}
	}
	return switched, labeling.Entropy(t.Job.Pool, s.Soft, t.UnlabeledWeight, t.classes)
}

// Gradient implements minimize.Objective.
func (s *softLabels) Gradient(dst []float64) float64 {
	s.renew()
	return s.Risk.Gradient(dst)
}

// Residual implements minimize.ByRows.
func (s *softLabels) Residual(dst []float64) float64 {
	s.renew()
	return s.Risk.Residual(dst)
}

// renew sets the soft labels to the best ones at the current scores.
func (s *softLabels) renew() {
	t := s.task
	t.measure(s.Risk)
	labeling.Soft(t.Job, s.Soft, t.costs, t.UnlabeledWeight, t.prior, s.temperature, s.potentials)
}

// energyLimits are those of the steps at one temperature: where the soft labels turn, steps at labels held fixed come
// near the solution only slowly, and the next temperature can go on from there. Measured on comp.*, text1, pcmac and
// CCAT, a draw each: at a tenth of the looseness and up to 30 steps objectives end up to 3 % away, either way, after
// 1.6 to 1.8 times the passes; with a line search along the free energy itself besides (soft labels anew at each look)
// after 1.2 to 1.6 times the passes and 2 to 4 times the time.
func (t *task) energyLimits() minimize.Limits {
	return minimize.Limits{Tolerance: pathLooseness * t.Options.Tol, MaxSteps: 8, Line: pathLine}
}

// distributions are the soft labels of all rows [n, K]; given labels are certain, rows of weight 0 follow the class
// prior.
func (t *task) distributions() []float64 {
	if t.soft == nil {
		return nil
	}
	k := t.classes
	all := make([]float64, t.Rows.Rows()*k)
	for i := range t.Rows.Rows() {
		copy(all[i*k:], t.prior)
	}
	for n, i := range t.Labeled {
		row := all[int(i)*k : (int(i)+1)*k]
		clear(row)
		row[t.Class[n]] = 1
	}
	for j, i := range t.Unlabeled {
		copy(all[int(i)*k:], t.soft[j*k:(j+1)*k])
	}
	return all
}
