package sequence

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	pairs     = 8    // of differences that the solver "lbfgs" keeps
	mostSteps = 1000 // of "lbfgs" where the options say nothing
)

// Model is a chain with the weights of its features.
type Model struct {
	Tags, Features int
	Coef           []float64 // [Features*Tags] the tags of a feature side by side
	Chain          *Chain    // -Inf where a transition is forbidden
}

// Result is what a fit found.
type Result struct {
	Model       *Model
	Objective   float64
	Gap         float64 // bound on the distance to the optimum; NaN where there is none
	Iterations  int
	Termination string
	Objectives  []float64 // after every step of "lbfgs"; of an epoch the mean loss of the sequences before their steps
}

// Fit learns a model.
func Fit(p Problem, o Options, progress *work.Progress) (result *Result, err error) {
	err = work.Guard(func() error {
		s, err := newSample(p, o, work.NewJob(o.Threads, progress))
		if err != nil {
			return err
		}
		w := make([]float64, weightsLen(s.shape))
		if p.Start != nil {
			if err := s.begin(view(w, s.shape), p.Start); err != nil {
				return err
			}
		}
		result = &Result{Gap: math.NaN(), Objectives: []float64{}}
		if o.Solver == "lbfgs" {
			s.quasiNewton(w, result)
		} else {
			s.epochs(w, result)
		}
		result.Model = s.model(view(w, s.shape))
		return nil
	})
	return result, err
}

// epochs takes stochastic steps.
func (s *sample) epochs(w []float64, r *Result) {
	d, last := newStochastic(s, w), s.options.MaxIter
	if last == 0 {
		last = epochs
	}
	free, tokens := s.free()
	for r.Termination = "epochs"; r.Iterations == 0 || r.Iterations < last && !s.Stopped(); {
		d.record(r)
	}
	if len(free) > 0 {
		d.order = append(d.order, free...)
		d.divide()
		s.belief = s.believe(free, tokens)
		for k := 0; k < last && !s.Stopped(); k++ {
			s.belief.enter(d, part(k, last))
			d.record(r)
		}
	}
	if s.Stopped() {
		r.Termination = "stopped"
	}
	d.finish()
	if s.belief != nil {
		s.belief.enter(d, 1)
	}
	r.Objective = d.value()
}

// record takes the steps of an epoch and notes its losses.
func (d *stochastic) record(r *Result) {
	loss := d.epoch() / d.labeled
	r.record(d.Job, loss, float64(d.Visited())/float64(max(1, d.rows.NonZeros())))
}

// record notes a step and publishes it.
func (r *Result) record(job *work.Job, objective, passes float64) {
	r.Iterations++
	r.Objectives = append(r.Objectives, objective)
	job.Report(r.Iterations, objective, 0, 0, passes)
}

// quasiNewton takes steps by all sequences until the optimum is near: F(w) - F(w*) <= |g|²/2α, as F is strongly convex
// where every token has a label. Otherwise there may be several minima.
func (s *sample) quasiNewton(w []float64, r *Result) {
	last, gap := s.options.MaxIter, 0.0
	if last == 0 {
		last = mostSteps
	}
	search := minimize.QuasiNewton{Pool: s.Pool, Memory: pairs, MaxSteps: last,
		Enough: func(step int, value, norm float64) bool {
			if step > 0 {
				r.record(s.Job, value, float64(s.Visited())/float64(max(1, s.rows.NonZeros())))
			}
			gap = norm * norm / (2 * s.options.Alpha)
			return gap <= s.options.Tol*value || s.Stopped()
		}}
	r.Objective, _ = search.Minimize(newObjective(s), w)
	if whole(s.labels) {
		r.Gap = gap
	}
	switch {
	case gap <= s.options.Tol*r.Objective:
		r.Termination = "converged"
	case s.Stopped():
		r.Termination = "stopped"
	case r.Iterations == last:
		r.Termination = "max_iter"
	default:
		r.Termination = "not_converged"
	}
}

// begin puts a model into the weights.
func (s *sample) begin(w weights, m *Model) error {
	if m.Tags != s.tags || m.Features != s.features {
		return fault.Argument("start has %d tags and %d features, the data has %d and %d", m.Tags, m.Features, s.tags,
			s.features)
	}
	for k, j := range s.feature {
		for y := range s.tags {
			w.coef[s.shape.At(k, y)] = m.Coef[int(j)*s.tags+y] * s.length
		}
	}
	for _, part := range [][2][]float64{{w.pair, m.Chain.Pair}, {w.start, m.Chain.Start}, {w.end, m.Chain.End}} {
		for k, score := range part[1] {
			if !math.IsInf(score, -1) {
				part[0][k] = score
			}
		}
	}
	return nil
}

// model takes the weights to the features and the scale of the caller.
func (s *sample) model(w weights) *Model {
	m := &Model{Tags: s.tags, Features: s.features, Coef: make([]float64, s.features*s.tags), Chain: NewChain(s.tags)}
	for k, j := range s.feature {
		for y := range s.tags {
			m.Coef[int(j)*s.tags+y] = w.coef[s.shape.At(k, y)] / s.length
		}
	}
	copy(m.Chain.Pair, w.pair)
	copy(m.Chain.Start, w.start)
	copy(m.Chain.End, w.end)
	s.open.apply(m.Chain)
	return m
}

// Check refuses weights that are not finite; transitions may be -Inf.
func (m *Model) Check() error {
	for k, weight := range m.Coef {
		if math.IsNaN(weight) || math.IsInf(weight, 0) {
			return fault.Data("coef[%d] is %v: NaN and infinity are not allowed", k, weight)
		}
	}
	return m.Chain.Check()
}

// Check refuses NaN and +Inf.
func (c *Chain) Check() error {
	for _, part := range []struct {
		name   string
		scores []float64
	}{{"transitions", c.Pair}, {"start", c.Start}, {"end", c.End}} {
		for k, score := range part.scores {
			if math.IsNaN(score) || math.IsInf(score, 1) {
				return fault.Data("%s[%d] is %v: only numbers and -infinity, which forbids, are allowed", part.name, k, score)
			}
		}
	}
	return nil
}
