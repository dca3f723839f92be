package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// switching is the transductive method with hard labels.
//
//	Problem  that of task with labels q_jy of 0 or 1; λ' raised in steps to its value
//	Symbols  c_jy = λ' ξ(s_j, y) cost of class y for unlabeled row j; n(y) class counts, from φ by largest remainder
//	Source   Sindhwani & Keerthi 2006 section 3.1 (multiple switching) for two classes; Keerthi, Sundararajan & Shevade
//	         2012, algorithm 1 (greedy start, C^u annealed) and 2 (switching between pairs of classes) for many.
//	         Differences: W goes on from the supervised solution by one Newton step a relabeling; C^u starts at 0.01,
//	         below which hardly a label switches; without a limit on switches labels are the best ones for their scores
//	         at every step, not only best under switches of two. Measured on 20 Newsgroups, fbis, R8, k1b and wap, 5
//	         labels a class on average, 3 draws: errors are 0.6 points lower to 0.2 higher, 0.04 lower in the mean;
//	         objectives 6 % lower to 1 % higher, in one of 15 fits 9 % higher; time is the same
//	Stops    at each λ': no label changes; at the last an exact solve, and again while that changes labels; max_iter
//	Cost     a level: a few Newton steps, see minimize
func (t *task) switching() solution {
	r, newton, start := t.begin()
	if !finite(start) {
		return t.read(r, start, stop{reason: ending.NotFinite})
	}
	if t.goesOnSoftly() {
		return t.switchingOn(r, newton)
	}
	hard := &hardLabels{Risk: r, task: t, labels: t.perUnit(make([]int32, len(t.Unlabeled)))}
	t.admit(r)
	t.noteFirst(r.Score)
	t.measure(r)
	if t.Options.MaxSwitches == 0 || t.Paired() {
		t.cheapest(hard.labels)
	} else {
		labeling.Greedy(hard.labels, t.unitCosts(), labeling.Counts(t.prior, len(hard.labels)))
		labeling.Switch(hard.labels, t.unitCosts(), t.classes, 0)
	}
	rising := &raising{levels: t.levels(), full: t.Options.UnlabeledWeight}
	end := t.follow(r, newton.Minimize, hard, rising, t.switchLimits())
	switch end.reason {
	case ending.NotFinite:
		return t.read(r, end.last, end)
	case ending.GivenUp:
		return solution{end: end}
	}
	return t.finish(r, newton, hard.labels, 0, t.Options.UnlabeledWeight, end)
}

// hardLabels are the belief of switching.
type hardLabels struct {
	*risk.Risk
	task   *task
	labels []int32 // [units]
}

func (h *hardLabels) enter(part float64) { h.task.harden(h.Risk, h.labels, part) }

func (h *hardLabels) relabel() (switched int, entropy float64) {
	return h.task.relabel(h.labels, h.Risk), 0
}

// raising is the schedule of switching: the parts of their weight that the unlabeled rows have, one after the other.
type raising struct {
	levels []float64
	full   float64 // λ'
}

func (r *raising) level() (value, shown float64) { return r.levels[0], r.levels[0] * r.full }

func (r *raising) next(switched int, _ float64) ending.Reason {
	switch {
	case switched > 0:
		return ending.None
	case len(r.levels) == 1:
		return ending.NoSwitch
	}
	r.levels = r.levels[1:]
	return ending.None
}

// λ' starts at firstLevel of its value and is raised by this factor. Keerthi et al. 2012 start at 1e-4: below 0.01
// hardly a label switches.
const (
	firstLevel = 0.01
	raise      = 3.0
)

// levels are those of raising.
func (t *task) levels() []float64 {
	if t.start != nil || t.direct() {
		return []float64{1}
	}
	return partsFrom(firstLevel, raise)
}

// partsFrom are those from the first to the last below 1.
func partsFrom(first, factor float64) (parts []float64) {
	for part := first; part < 1; part *= factor {
		parts = append(parts, part)
	}
	return parts
}
