package method

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/path"
)

// anneal is deterministic annealing.
//
//	Problem  that of objective.Objective with soft labels q, plus T Σ_j w_j Σ_y q_jy log q_jy, while T falls to 0
//	Symbols  as there; T temperature; c_jy = λ' ξ(s_j, y); v_y potentials that hold the shares: q_jy ~ exp((v_y-c_jy)/T)
//	Source   Sindhwani & Keerthi 2006 section 3.2 (two classes; many are mentioned); Keerthi, Sundararajan & Shevade
//	         2012 (labels that keep the class shares)
//	Differences  inexact Newton steps for w, with q renewed before each, in place of exact solves for both in turn: at
//	         the best q the gradient at fixed q is that of the free energy, and the curvature an upper bound. λ' is at
//	         most MaxOverAlpha α until labels are hard. Hard labels settle at the end,
//	         where the shares are estimated in at most fewRounds rounds: more gain nothing (docs/notes/annealing.md)
//	Stops    the mean entropy of q falls below smallEntropy bits, more with many classes; T is coldest times its start;
//	         max_iter steps, of which settling is the last. With Soft it ends at coolStart times its start, unsettled
//	Cost     a temperature: about 10 passes over the active rows; a renewal of q: about ten exp a row and class
func anneal(d *descent) *Solution {
	d.Costs.Level = softWeight(d.Run)
	soft := belief.NewSoft(d.risk, d.Costs)
	cooling := coolingOf(d.Run)
	steps := energySteps
	switch free := d.Options.Loss.Spec().Free; {
	case free && d.Guessed:
		steps = guessedSteps
	case free:
		steps = freeSteps
	}
	if !d.follow(soft, soft, cooling, steps) {
		return nil
	}
	if d.Soft && !d.Path.Reason.Early() {
		return d.read(nil)
	}
	if d.Path.Steps == 0 {
		soft.Enter(cooling.Temperature)
		soft.Renew()
		soft.Relabel()
	}
	if d.Guessed && d.Options.MaxSwitches == 0 {
		d.Path.Rounds = fewRounds
	}
	labels := d.risk.SoftLabels
	hard, changed := soft.Harden(d.exchange())
	solution := d.settle(hard, changed, 0)
	solution.SoftLabels = labels
	return solution
}

// The schedule; alternatives are in docs/notes/annealing.md.
const (
	warmth       = 2.0  // the first temperature is at least this many times the spread of the costs, and λ'
	coolBy       = 1.4  // T falls by this factor
	smallEntropy = 1e-2 // bits a row: from here on few labels change
	undecided    = 0.25 // bits of a row of each class: shares that are no whole numbers of rows leave one undecided
	coldest      = 1e-4 // of the first temperature: equal rows at the threshold may stay undecided
	energySteps  = 8    // Newton steps a temperature
	fewRounds    = 10   // of settling where the shares are estimated, if a round exchanges all labels that help

	// Of the maxent loss: T falls slowly from λ', where unlabeled rows cost nothing at any probabilities.
	slowCoolBy = 1.1
	slowUntil  = 0.5 // of λ'
	freeSteps  = 3   // Newton steps a temperature: there are many

	// The same where the shares are estimated: with the given ones objectives would be higher.
	guessedCoolBy = 1.2
	guessedSteps  = 2

	// From an earlier model. A warmer start takes more passes, one below 0.02 ends higher.
	coolStart  = 0.05 // of the first temperature
	warmCoolBy = 10.0
)

// coolingOf begins at the first temperature, or from a start below it.
func coolingOf(r *Run) *path.Cooling {
	first, level, s := firstTemperature(r), r.Costs.Level, r.Objective.Sample
	c := &path.Cooling{Temperature: first, Factor: coolBy, SlowAbove: math.Inf(1), Slow: slowCoolBy,
		Coldest:      coldest * first,
		SmallEntropy: max(smallEntropy, undecided*float64(s.Classes())/float64(s.All.UnlabeledUnits))}
	switch {
	case r.Objective.Start != nil:
		c.Temperature, c.Factor = coolStart*first, warmCoolBy
	case r.Options.Loss.Spec().Free:
		c.Temperature, c.SlowAbove = level, slowUntil*level
	}
	if r.Guessed {
		c.Slow = guessedCoolBy
	}
	if r.Soft {
		c.Coldest = coolStart * first
	}
	return c
}

// firstTemperature is so high that soft labels hardly differ: λ' for rows of unit length, more where the supervised
// scores are far apart. The losses of K columns add up, for two classes to twice the loss of a pair.
func firstTemperature(r *Run) float64 {
	level := r.Costs.Level
	if !r.Objective.Sample.Paired() {
		level *= 2
	}
	return max(level, 2*warmth*r.Costs.Spread())
}

// MaxOverAlpha bounds λ' while labels are soft, in units of α. At a high temperature an unlabeled row costs
// λ' (1 + f²) / 2, which whitens the rows: with a larger λ' the first solutions follow directions of least variance.
const MaxOverAlpha = 1000.0

// softWeight is λ' while labels are soft: unbounded from a start, and where unlabeled rows cost nothing at first.
func softWeight(r *Run) float64 {
	if r.Objective.Start != nil || r.Options.Loss.Spec().Free {
		return r.Objective.Weight
	}
	return min(r.Objective.Weight, MaxOverAlpha*r.Objective.Alpha)
}
