package sequence

import (
	"cmp"
	"math"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/schedule"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/work"
)

const mostSteps = 1000 // of L-BFGS where the options give no number

// Result is what a fit found.
type Result struct {
	Model      *model.Chain // with the report of the fit
	Gap        float64      // bound on the distance to the optimum; NaN where there is none
	Objectives []float64    // after every step of L-BFGS; of an epoch the mean loss of the sequences before their steps
}

// Fit learns a model.
func Fit(p Problem, o Options, progress *work.Progress) (result *Result, err error) {
	err = work.Guard(func() error {
		s, err := newSample(p, o, work.NewJob(o.Threads, progress))
		if err != nil {
			return err
		}
		w := newWeights(s.shape)
		if p.Start != nil {
			if err := warmStart(s, w, p.Start); err != nil {
				return err
			}
		}
		result = solve(s, w)
		return nil
	})
	return result, err
}

// solve fits the weights.
func solve(s *sample, w weights) *Result {
	steps, gap, end := &trace.Trace{Job: s.Job, Unit: s.rows.NonZeros()}, math.NaN(), ending.None
	report := model.Report{Method: s.options.Loss}
	if s.options.Solver == Lbfgs {
		report.Objective, gap, end = quasiNewton(s, w, steps)
	} else {
		report.Objective, end = takeEpochs(s, w, steps)
	}
	report.Iterations, report.Termination = steps.Steps(), end.String()
	return &Result{modelOf(s, w, report), gap, append([]float64{}, steps.Objectives()...)}
}

// takeEpochs takes stochastic steps over the labeled sequences, then over all.
func takeEpochs(s *sample, w weights, steps *trace.Trace) (objective float64, end ending.Reason) {
	d, last := newStochastic(s, w), cmp.Or(s.options.MaxIter, epochs)
	record := func() { steps.Record(d.epoch()/s.labeled, 0, 0, 0, 0) }
	for record(); steps.Steps() < last && !s.Stopped(); {
		record()
	}
	end = ending.Epochs
	belief, unlabeled := newBelief(s)
	d.include(unlabeled)
	d.belief = belief
	if belief != nil {
		weight := schedule.Rising{Parts: schedule.EqualFactors(firstPart, last), End: ending.Epochs}
		for end = ending.None; end == ending.None && !s.Stopped(); end = weight.Next(schedule.Step{}) {
			part, _ := weight.Level()
			belief.enter(w, part)
			record()
		}
	}
	if s.Stopped() {
		end = ending.Stopped
	}
	d.finish()
	if belief != nil {
		belief.enter(w, 1)
	}
	return d.objectiveNow(), end
}

// quasiNewton takes steps by all sequences until the optimum is near: F(w) - F(w*) <= |g|²/2α, as F is strongly convex
// where every token has a label. Otherwise there may be several minima, and the gap is NaN.
func quasiNewton(s *sample, w weights, steps *trace.Trace) (objective, gap float64, end ending.Reason) {
	last := cmp.Or(s.options.MaxIter, mostSteps)
	search := minimize.QuasiNewton{Memory: pairs, MaxSteps: last,
		Enough: func(step int, value, norm float64) bool {
			if step > 0 {
				steps.Record(value, 0, 0, 0, 0)
			}
			gap = norm * norm / (2 * s.options.Alpha)
			return gap <= s.options.Tol*value || s.Stopped()
		}}
	objective, _ = search.Minimize(newObjective(s), w.all)
	switch {
	case gap <= s.options.Tol*objective:
		end = ending.Converged
	case s.Stopped():
		end = ending.Stopped
	case steps.Steps() == last:
		end = ending.MaxIter
	default:
		end = ending.NotConverged
	}
	if !whole(s.labels) {
		gap = math.NaN()
	}
	return objective, gap, end
}

// warmStart puts a model into the weights.
func warmStart(s *sample, w weights, m *model.Chain) error {
	if m.Tags != s.tags || m.Features != s.features {
		return fault.Argument("start has %d tags and %d features, the data has %d and %d", m.Tags, m.Features, s.tags,
			s.features)
	}
	for k, j := range s.feature {
		for y := range s.tags {
			w.coef[s.shape.At(k, y)] = m.Coef[int(j)*s.tags+y] * s.length
		}
	}
	at := 0
	for _, part := range edgesOfModel(m) {
		for _, score := range part.scores {
			if !math.IsInf(score, -1) {
				w.chain.all[at] = score
			}
			at++
		}
	}
	return nil
}

// modelOf takes the weights to the features and the scale of the caller.
func modelOf(s *sample, w weights, report model.Report) *model.Chain {
	e := edgesOf(append([]float64{}, w.chain.all...), s.tags)
	s.applyMask(e)
	m := &model.Chain{Tags: s.tags, Features: s.features, Coef: make([]float64, s.features*s.tags),
		Transitions: e.pair, Start: e.start, End: e.end, Report: report}
	for k, j := range s.feature {
		for y := range s.tags {
			m.Coef[int(j)*s.tags+y] = w.coef[s.shape.At(k, y)] / s.length
		}
	}
	return m
}
