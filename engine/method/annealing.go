package method

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/schedule"
)

// anneal is deterministic annealing.
//
//	Problem  that of objective.Objective with soft labels q, plus T Σ_j w_j Σ_y q_jy log q_jy, while T falls to 0
//	Symbols  as there; T temperature; c_jy = λ' ξ(s_j, y); v_y potentials, which hold the class shares: q_jy is
//	         proportional to exp(-(c_jy - v_y) / T)
//	Source   Sindhwani & Keerthi 2006 section 3.2 for two classes, who mention the form for many (Potts); the labels
//	         under both kinds of sums as in Keerthi, Sundararajan & Shevade 2012. Differences: they alternate exact
//	         solves for w and q; here w takes inexact Newton steps, with q renewed before each: at the best q the
//	         gradient at fixed q is that of the free energy min over q, and the curvature at fixed q bounds its own from
//	         above. T starts where the soft labels begin to differ, and λ' is at most MostOverAlpha α until they are
//	         hard. An exact solve at hard labels ends the run, with switches while they help
//	Stops    the mean entropy of q falls below smallEntropy bits; T falls below coldest times its start; max_iter
//	         steps, of which the solve at hard labels is the last: with one step that is all there is
//	Cost     a temperature: about 10 passes over the active rows; a renewal of q is some ten exp a row and class
func anneal(r *Run) *Solution {
	d, ok := r.begin()
	if !ok {
		return nil
	}
	r.Costs.Level = softWeight(r)
	soft := belief.NewSoft(d.risk, r.Costs)
	r.began(d.risk.Score)
	cooling := coolingOf(r)
	steps := energySteps
	if r.Loss.Free {
		steps = freeSteps
	}
	r.Path.Follow(d.solve(soft), soft, cooling, r.Path.Limits.Way(steps))
	switch {
	case r.Path.Reason == ending.NotFinite || r.Path.Reason == ending.GivenUp:
		return nil
	case r.Path.Steps == 0:
		soft.Enter(cooling.Temperature)
		soft.Renew()
		soft.Relabel()
	}
	labels := d.risk.Soft
	hard, changed := soft.Harden(r.exchange())
	d.settle(hard, changed, 0)
	found := r.read(d.risk)
	found.Soft = labels
	return found
}

// The schedule. Measured with the class shares given and 2, 5 and 20 labels a class, equal and random, two draws, on
// comp.*, rec/sci, pc/mac, text1, GCAT, CCAT, k1b, wap, re0, R8 and Ohsumed: cooling by 1.2 ends .15 % lower with a
// macro F of -.001, after 1.26 times the passes; steps that let the entropy fall by a tenth of a bit each end as low
// with the same macro F after .98, by a fifth of a bit .0 % lower after .86 (pc/mac +.8 %, F -.008); four Newton
// steps a temperature in place of energySteps .3 % higher after .81 (re0 and pc/mac 1.1 %, F -.006). An earlier
// start and tighter solves on the way cost passes and change errors by less than one draw of the labels does.
const (
	warmth       = 2.0  // the first temperature is at least this many times the spread of the preferences, and λ'
	coolBy       = 1.4  // T falls by this factor
	smallEntropy = 1e-2 // bits a row: from here on hardly a label moves any more
	coldest      = 1e-4 // of the first temperature: equal rows at the threshold may stay undecided for ever
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

// Annealing goes on from an earlier model at coolStart of its first temperature, and cools by warmCoolBy. Measured on
// comp.* of 20 Newsgroups, 45 labels and 20 more: 0.18 of the passes of a fresh fit, which is compared with switching
// besides, to an objective as low in the mean (single draws differ by 3 % both ways). To begin warmer costs passes;
// below 0.02 it ends higher the fewer rows there are. Fits that begin at a part of the rows (comp.*, GCAT, CCAT, MCAT,
// MNIST 3 and 8; 2, 20 and 80 labels a class, two draws): cooling by 3 and to an entropy of 1e-3 takes 1.05 times the
// passes, to objectives .1 % higher; at most three Newton steps a temperature .95, to .1 % higher ones, and after more
// labels of re0 to 2 % higher ones.
const (
	coolStart  = 0.05
	warmCoolBy = 10.0
)

// coolingOf begins at the first temperature; from a start at a part of it.
func coolingOf(r *Run) *schedule.Cooling {
	first, level := firstTemperature(r), r.Costs.Level
	c := &schedule.Cooling{First: first, Temperature: first, Factor: coolBy, SlowAbove: math.Inf(1), Slow: slowCoolBy,
		Coldest: coldest, SmallEntropy: smallEntropy}
	switch {
	case r.Objective.Start != nil:
		c.Temperature, c.Factor = coolStart*first, warmCoolBy
	case r.Loss.Free:
		c.Temperature, c.SlowAbove = level, slowUntil*level
	}
	return c
}

// firstTemperature is high enough for soft labels that hardly differ yet: λ' for rows of unit length, more where the
// supervised scores are far apart; the spread is that of a class's cost beyond the mean of the row's. Beside a pair the
// losses of all classes add up: for two classes to twice that of the pair.
func firstTemperature(r *Run) float64 {
	least := 2 * r.Costs.Level
	if r.Objective.Sample.Paired() {
		least = r.Costs.Level
	}
	return max(least, 2*warmth*r.Costs.Spread())
}

// MostOverAlpha bounds λ' while labels are soft, in units of α. At a high temperature every unlabeled row costs
// λ' (1 + f²) / 2, which whitens: where α is small beside λ' and the variance of the rows, the first solutions take the
// directions of least variance that fit the few labels, and cooling hardens that. At λ' = 1000 α labels harden as they
// do with the defaults; at any smaller α the exact solve at hard labels is then the first one with the whole λ'.
// Measured at α = 1e-5 and 1e-6: on text1 errors of 7.9 and 13.3 % become 5.8 and 5.7 %, on pcmac 26 and 31 % become
// 10 %, in a quarter of the passes; on 400 rows of counts with 6 labels 40 and 49 % become 0. To let λ'
// rise while T falls ends within 2 % of the same objective after more passes; to bound it by 100 α costs 1 to 3 points
// at the default α; by 3000 α at α = 1e-4 it ends 2 % higher, with a macro F of -.017 (text1, pc/mac, rec/sci, comp.*,
// re0, k1b), on comp.* alone 3 % lower.
const MostOverAlpha = 1000.0

// softWeight is λ' while labels are soft. A start has labels already, and the schedule of the maxent loss begins where
// the unlabeled rows cost nothing: to bound λ' as well took 2 to 3 points of accuracy from it (20 Newsgroups,
// α = 1e-4).
func softWeight(r *Run) float64 {
	if r.Objective.Start != nil || r.Loss.Free {
		return r.Objective.Weight
	}
	return min(r.Objective.Weight, MostOverAlpha*r.Objective.Alpha)
}

// energySteps bounds the Newton steps at one temperature: where the soft labels turn, steps at labels held fixed come
// near the solution only slowly, and the next temperature can go on from there. Measured on comp.*, text1, pcmac and
// CCAT, a draw each: at a tenth of the looseness and up to 30 steps objectives end up to 3 % away, either way, after
// 1.6 to 1.8 times the passes; with a line search along the free energy itself besides (soft labels anew at each look)
// after 1.2 to 1.6 times the passes and 2 to 4 times the time. The maxent loss has many temperatures at which labels
// turn: freeSteps of them take .72 of the passes of energySteps, to objectives .3 % higher with a macro F of +.001
// (k1b, wap, comp.*, MiniLM; 2, 5 and 20 labels a class; on MiniLM 2 steps .56 of the passes, .3 % higher again).
// Rejected, on MiniLM: Newton steps 1.3, 1.6 and 1.8 times as long, .92 to 1.5 times the passes with either loss; two
// temperatures at a time where no step was needed, .94 to 1.
const (
	energySteps = 8
	freeSteps   = 3
)
