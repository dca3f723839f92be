package sequence

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

type Result struct {
	Model      *model.Chain // with the report of the fit
	Objectives []float64    // of every epoch the mean loss of the sequences before their steps
}

// Fit learns a model: stochastic steps over the labeled sequences, then over all.
func Fit(p Problem, o Options, progress *work.Progress) (*Result, error) {
	return work.Guard(func() (*Result, error) {
		s, err := newSample(p, o, work.NewJob(o.Threads, progress))
		if err != nil {
			return nil, err
		}
		w := newWeights(s.shape)
		if p.Start != nil {
			if err := warmStart(s, w, p.Start); err != nil {
				return nil, err
			}
		}
		steps := &path.Trace{Job: s.Job, Unit: s.Rows.NonZeros()}
		objective, end := takeEpochs(s, w, steps)
		report := model.Report{Method: o.Loss, Objective: objective, Iterations: steps.Steps(), Termination: string(end)}
		result := &Result{modelOf(s, w, report), slices.Clone(steps.Objectives())}
		if !vector.Finite(result.Model.Coef, w.chain.all, []float64{objective}) {
			return nil, rows.Overflowed(p.Rows.Largest())
		}
		return result, nil
	})
}

func takeEpochs(s *sample, w weights, steps *path.Trace) (objective float64, end path.Reason) {
	d, last := newStochastic(s, w), s.options.MaxIter
	record := func() { steps.Record(d.epoch()/s.labeled, 0, 0, 0, 0) }
	for record(); steps.Steps() < last && !s.Stopped(); {
		record()
	}
	belief, unlabeled, further := newBelief(s)
	if belief != nil {
		d.belief = belief
		d.order = append(d.order, unlabeled...)
		for _, part := range path.EqualFactors(firstPart, further) {
			if !s.Stopped() {
				belief.enter(w, part)
				record()
			}
		}
	}
	if end = path.Epochs; s.Stopped() {
		end = path.Stopped
	}
	for f := range d.since { // also those that no recent step touched: the regularization's step
		d.moveFeature(f)
	}
	rest := 0.0
	if belief != nil {
		rest = belief.enter(w, 1)
	}
	return d.objectiveNow(rest), end
}

func warmStart(s *sample, w weights, m *model.Chain) error {
	if m.Tags != s.tags || m.Features != s.features {
		return fault.Argument("start has %d tags and %d features, the data has %d and %d", m.Tags, m.Features, s.tags,
			s.features)
	}
	s.eachWeight(func(packed, at int) { w.coef[packed] = m.Coef[at] * s.Length })
	for k, score := range slices.Concat(m.Transitions, m.Start, m.End) {
		if !math.IsInf(score, -1) {
			w.chain.all[k] = score
		}
	}
	return nil
}

// modelOf takes the weights to the features and the scale of the caller.
func modelOf(s *sample, w weights, report model.Report) *model.Chain {
	e := edgesOf(slices.Clone(w.chain.all), s.tags)
	s.applyMask(e)
	m := &model.Chain{Tags: s.tags, Features: s.features, Coef: make([]float64, s.features*s.tags),
		Transitions: e.pair, Start: e.start, End: e.end, Report: report}
	s.eachWeight(func(packed, at int) { m.Coef[at] = w.coef[packed] / s.Length })
	return m
}

// eachWeight calls visit for the weights of features, with their places in packed ones and in those of a model.
func (s *sample) eachWeight(visit func(packed, at int)) {
	for k, j := range s.Feature {
		for y := range s.tags {
			visit(s.shape.At(k, y), int(j)*s.tags+y)
		}
	}
}

// belief is what is believed of the sequences without any label.
type belief interface {
	// enter makes ready for an epoch at weights and returns the part of the objective beside the losses of the
	// sequences; part of the full weight rises to 1.
	enter(w weights, part float64) (rest float64)
	// lossOf is the loss of a sequence, until the next enter.
	lossOf(i int) Loss
}

// firstPart of the weight is that of the first epoch, if the method raises it.
const firstPart = 0.001

// newBelief makes the belief of the method, nil if it has none, lists the sequences without any label, and gives the
// number of epochs with them: fewer the fewer tokens they have beside the labeled ones. Their losses are averaged over
// their tokens; factor makes that a part of the sum of the labeled sequences' losses.
func newBelief(s *sample) (b belief, unlabeled []int, epochs int) {
	weight, tokens, begin := s.options.UnlabeledWeight, 0.0, methods[s.options.Method].begin
	unlabeled = s.list(true)
	for _, i := range unlabeled {
		tokens += float64(s.span(i).Len())
	}
	epochs = int(math.Round(float64(s.options.MaxIter) * min(1, tokens/s.labeled)))
	if begin == nil || weight == 0 || epochs == 0 {
		return nil, nil, 0
	}
	if weight == option.AutoWeight {
		weight = option.WeightOf(tokens, s.labeled)
	}
	return begin(s, unlabeled, tokens, weight*s.labeled/tokens), unlabeled, epochs
}

// Options are the settings of a fit. Defaults and legal ranges are written here and nowhere else.
type Options struct {
	Alpha       float64
	Loss        string
	Rho         float64
	MaxIter     int
	Forbidden   []int // pairs of tags, one behind the other: from, to; -1 is the start or the end
	Threads     int
	RandomState int

	Method          string
	UnlabeledWeight float64   // option.AutoWeight: what suits the numbers of tokens
	ClassPrior      []float64 // shares of the tags among the tokens of sequences without a label; empty: those of labels
	PenaltyWeight   float64
}

const supervised = "supervised"

// methods are how sequences without any label are used.
var methods = map[string]struct {
	begin  func(s *sample, unlabeled []int, tokens, factor float64) belief // nil: not at all
	scores float64                                                         // kept of a token and tag, and lattices
}{supervised: {}, "gradient": {newAmbiguity, 0}, "posterior": {newPosterior, 5}}

func (o *Options) Table() option.Table {
	return option.Table{
		{Name: "alpha", Value: &o.Alpha, Exclusive: true, Meaning: "strength of the regularization"},
		{Name: "loss", Value: &o.Loss, Choices: []string{"softmax_margin", "crf", "soft_hinge"},
			Meaning: "loss of a sequence"},
		{Name: "rho", Value: &o.Rho, Exclusive: true, Maximum: 100, Meaning: "sharpness of the loss soft_hinge"},
		{Name: "max_iter", Value: &o.MaxIter, Minimum: 1, Meaning: "epochs, up to twice as many with unlabeled sequences"},
		{Name: "forbidden_transitions", Value: &o.Forbidden, Minimum: -1,
			Meaning: "pairs of tags, from and to, flattened; -1 is the start or the end"},
		{Name: "method", Value: &o.Method, Choices: []string{supervised, "gradient", "posterior"},
			Meaning: "how sequences without any label are used"},
		{Name: "unlabeled_weight", Value: (*option.Weight)(&o.UnlabeledWeight), Maximum: 1e6,
			Meaning: "weight of the averaged loss of sequences without any label; auto: 1, or less if they are few"},
		{Name: "class_prior", Value: &o.ClassPrior, Exclusive: true, Maximum: 1, Meaning: "posterior: shares of the tags " +
			"among the tokens of sequences without any label; none: those of the labels"},
		{Name: "penalty_weight", Value: &o.PenaltyWeight, Exclusive: true,
			Meaning: "posterior: weight of the squared distance from the class prior"},
		{Name: "threads", Value: &o.Threads, Minimum: 1, Meaning: "maximum number of threads"},
		{Name: "random_state", Value: &o.RandomState, Meaning: "seed of the order of the sequences"},
	}
}

func Defaults() Options {
	return Options{Alpha: 1e-7, Loss: "softmax_margin", Rho: 10, MaxIter: epochs, Threads: 1, Method: supervised,
		UnlabeledWeight: option.AutoWeight, PenaltyWeight: 1e4}
}
