package sequence

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// unlabeled is what is believed of the sequences without any label.
type unlabeled interface {
	// enter makes ready for an epoch at the weights of d; part, up to 1, has risen from one epoch to the next.
	enter(d *stochastic, part float64)
	// loss is the loss of a sequence, until the next enter.
	loss(i int) Loss
	// rest is what the objective has beside these losses.
	rest() float64
}

// firstPart of the weight is what the unlabeled sequences have in their first epoch, if the method raises it.
const firstPart = 0.001

// part is that of epoch k of n: it rises to 1 by equal factors.
func part(k, n int) float64 {
	if n == 1 {
		return 1
	}
	return math.Pow(firstPart, 1-float64(k)/float64(n-1))
}

// tokensPerLabel are the unlabeled tokens for each labeled one from which on "auto" gives their averaged loss the
// weight 1, as in package problem.
const tokensPerLabel = 20

// free lists the sequences without any label, if the method learns from them.
func (s *sample) free() (free []int, tokens float64) {
	if s.options.Method == Supervised || s.options.UnlabeledWeight == 0 {
		return nil, 0
	}
	for i := range s.sequences() {
		if !hasLabel(s.of(i)) {
			free = append(free, i)
			tokens += float64(s.span(i).Len())
		}
	}
	return free, tokens
}

// believe chooses the method for sequences without any label. Their losses are averaged over their tokens; factor makes
// that a part of the sum of the labeled sequences' losses.
func (s *sample) believe(free []int, tokens float64) unlabeled {
	weight := s.options.UnlabeledWeight
	if weight == option.AutoWeight {
		weight = min(1, tokens/(tokensPerLabel*s.labeled))
	}
	factor := weight * s.labeled / tokens
	if s.options.Method == Gradient {
		return &raising{Ambiguity{Rho: s.loss.Sharpness()}, factor}
	}
	return newPosterior(s, free, factor)
}

// lossOf is the loss of a sequence.
func (s *sample) lossOf(i int) Loss {
	if s.belief == nil || hasLabel(s.of(i)) {
		return s.loss
	}
	return s.belief.loss(i)
}

// checkMethod checks the options for sequences without any label, and takes over a given class prior.
func (s *sample) checkMethod() error {
	o := s.options
	if o.Method != Supervised && o.Solver != "stochastic" {
		return fault.Argument("method is %q: use the solver \"stochastic\", not %q", o.Method, o.Solver)
	}
	if len(o.ClassPrior) == 0 {
		return nil
	}
	if len(o.ClassPrior) != s.tags {
		return fault.Argument("class_prior has %d shares, but there are %d tags", len(o.ClassPrior), s.tags)
	}
	if sum := vector.Sum(o.ClassPrior); math.Abs(sum-1) > 1e-6 {
		return fault.Argument("class_prior sums to %v: the shares of all tags must sum to 1", sum)
	}
	s.prior = o.ClassPrior
	return nil
}

// raising is the belief of the method gradient.
type raising struct {
	Ambiguity
	full float64
}

func (r *raising) enter(_ *stochastic, part float64) { r.Weight = part * r.full }

func (r *raising) loss(int) Loss { return r.Ambiguity }

func (r *raising) rest() float64 { return 0 }
