package sequence

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/ending"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/schedule"
	"github.com/fewlabel/fewlabel/engine/trace"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Result is what a fit found.
type Result struct {
	Model      *model.Chain // with the report of the fit
	Objectives []float64    // of every epoch the mean loss of the sequences before their steps
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
	steps := &trace.Trace{Job: s.Job, Unit: s.rows.NonZeros()}
	objective, end := takeEpochs(s, w, steps)
	report := model.Report{Method: s.options.Loss, Objective: objective, Iterations: steps.Steps(),
		Termination: end.String()}
	return &Result{modelOf(s, w, report), append([]float64{}, steps.Objectives()...)}
}

// takeEpochs takes stochastic steps over the labeled sequences, then over all.
func takeEpochs(s *sample, w weights, steps *trace.Trace) (objective float64, end ending.Reason) {
	d, last := newStochastic(s, w), s.options.MaxIter
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
	for k, score := range edgesOfModel(m) {
		if !math.IsInf(score, -1) {
			w.chain.all[k] = score
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
