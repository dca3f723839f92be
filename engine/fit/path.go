package fit

import (
	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// A belief is what a method thinks of the unlabeled rows, hard or soft labels, in the objective.
type belief interface {
	minimize.Objective
	// enter puts the labels into the risk at a level of the schedule.
	enter(level float64)
	// relabel renews the labels from the costs at the current scores, and tells how many of the likeliest ones have
	// changed on this machine, and their rows' part of the mean entropy of the labels, in bits.
	relabel() (switched int, entropy float64)
}

// A schedule is a weight of the unlabeled rows that rises, or a temperature that falls.
type schedule interface {
	// level is the present one; shown is what the history says of it.
	level() (value, shown float64)
	// next goes on after a step, and returns the reason to end, or None.
	next(switched int, entropy float64) (reason ending.Reason)
}

// A minimizer moves the point of an objective downhill within limits.
type minimizer func(f minimize.Objective, limits minimize.Limits) minimize.Outcome

// follow is the outer loop of every method: minimize, relabel, record, next level. A solve that leaves the range of
// numbers ends it.
func (t *task) follow(r *risk.Risk, solve minimizer, b belief, s schedule, limits minimize.Limits) (end stop) {
	for end.reason == ending.None && !t.atLimit(&end) {
		level, shown := s.level()
		b.enter(level)
		if end.last = solve(b, limits); !finite(end.last) {
			end.reason = ending.NotFinite
			return end
		}
		switched, entropy := b.relabel()
		end.steps++
		switched, entropy = t.noteOwn(r, shown, switched, entropy)
		if t.hopeless() {
			end.reason = ending.GivenUp
			return end
		}
		end.reason = s.next(switched, entropy)
	}
	return end
}
