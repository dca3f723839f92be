package path

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/work"
)

// levels keeps the levels that it is entered at; a label changes at each of the first steps.
type levels struct {
	entered  []float64
	switches int
}

func (l *levels) Enter(level float64) { l.entered = append(l.entered, level) }

func (l *levels) Relabel() (switched int, entropy float64) {
	if len(l.entered) <= l.switches {
		return 1, 0
	}
	return 0, 0
}

func newPath(maxIter int) *Path {
	job := work.NewJob(1, nil)
	return &Path{Trace: &Trace{Job: job}, Limits: NewLimits(1e-3, maxIter, false),
		Measure: func() (objective, share float64) { return 1, 0 }}
}

func solve(limits minimize.Limits) minimize.Outcome {
	return minimize.Outcome{Value: 1, Converged: true}
}

func rising() *Rising {
	return &Rising{Parts: []float64{0.1, 0.5}, Full: 2, Stays: true, End: NoSwitch}
}

func TestAPathStaysAtALevelAsLongAsLabelsChange(t *testing.T) {
	p, b := newPath(100), &levels{switches: 2}
	p.Follow(solve, b, rising(), minimize.Limits{}, 1)
	if p.Reason != NoSwitch || p.Steps != 4 || !slices.Equal(b.entered, []float64{0.1, 0.1, 0.1, 0.5}) {
		t.Errorf("%v after %d steps at %v", p.Reason, p.Steps, b.entered)
	}
}

func TestAPathLeavesAStepToSettle(t *testing.T) {
	p, b := newPath(3), &levels{switches: 100}
	p.Follow(solve, b, rising(), minimize.Limits{}, 1)
	if p.Reason != MaxIter || p.Steps != 2 {
		t.Errorf("%v after %d steps", p.Reason, p.Steps)
	}
	b.entered, b.switches = nil, 2
	p.Settle(solve, b, func(o minimize.Outcome) minimize.Outcome { return o }, 7, 2)
	if switched := p.Trace.Columns()[2].Values; p.Reason != MaxIter || p.Steps != 3 || switched[2] != 8 { // 7 before, 1 as long as the risk falls
		t.Errorf("%v after %d steps, labels switched %v", p.Reason, p.Steps, switched)
	}
}

// Labels that never rest end a path after its rounds, with a solve at the last ones to tol; without rounds of its own
// it is unsettled.
func TestRoundsEndSettling(t *testing.T) {
	for rounds, want := range map[int]struct {
		entered int
		reason  Reason
	}{0: {SettleRounds + 1, Unsettled}, 4: {5, Temperature}} {
		p, b := newPath(100), &levels{switches: 1000}
		falling, last := 1.0, minimize.Limits{}
		p.Rounds, p.Reason = rounds, Temperature
		p.Settle(func(limits minimize.Limits) minimize.Outcome {
			falling, last = falling/2, limits
			return minimize.Outcome{Value: falling, Converged: true}
		}, b, func(o minimize.Outcome) minimize.Outcome { return o }, 0, 1)
		if p.Reason != want.reason || len(b.entered) != want.entered || last.Tolerance != p.Limits.Tol {
			t.Errorf("%d rounds: %v after %d, the last to %g", rounds, p.Reason, len(b.entered), last.Tolerance)
		}
	}
}

func TestTheLastScheduleTakesAStepAndKeepsAnEarlyEnd(t *testing.T) {
	for maxIter, want := range map[int]Reason{1: MaxIter, 100: Stationary} {
		p, b := newPath(maxIter), &levels{}
		p.Follow(solve, b, rising(), minimize.Limits{}, 1)
		before := p.Steps
		p.Complete(solve, b, &Rising{Parts: []float64{1}, End: Stationary}, minimize.Limits{})
		if p.Reason != want || p.Steps != before+1 {
			t.Errorf("max_iter %d: %v after %d and %d steps", maxIter, p.Reason, before, p.Steps)
		}
	}
}

func TestAPathEndsWhereNumbersAreNotFiniteOrTheBoundIsOutOfReach(t *testing.T) {
	p := newPath(100)
	lost := func(minimize.Limits) minimize.Outcome { return minimize.Outcome{Gap: math.NaN()} }
	p.Follow(lost, &levels{}, rising(), minimize.Limits{}, 1)
	p.Complete(solve, &levels{}, &Rising{Parts: []float64{1}, End: Stationary}, minimize.Limits{})
	if p.Reason != NotFinite || p.Steps != 1 {
		t.Errorf("%v after %d steps", p.Reason, p.Steps)
	}
	p = newPath(100)
	p.Bound = 0.5
	p.Follow(solve, &levels{switches: 100}, rising(), minimize.Limits{}, 1)
	if p.Reason != GivenUp || p.Steps != 2 {
		t.Errorf("%v after %d steps", p.Reason, p.Steps)
	}
}
