package sequence

import (
	"github.com/fewlabel/fewlabel/engine/option"
)

// belief is what is believed of the sequences without any label.
type belief interface {
	// enter makes ready for an epoch at weights; part is the part of the full weight, which rises to 1.
	enter(w weights, part float64)
	// lossOf is the loss of a sequence, until the next enter.
	lossOf(i int) Loss
	// rest is what the objective has beside these losses.
	rest() float64
}

// firstPart of the weight is what the unlabeled sequences have in their first epoch, if the method raises it.
const firstPart = 0.001

// newBelief chooses the belief about the sequences without any label and lists these; nil where the method does not
// learn from them. Their losses are averaged over their tokens; factor makes that a part of the sum of the labeled
// sequences' losses.
func newBelief(s *sample) (b belief, unlabeled []int) {
	weight, tokens := s.options.UnlabeledWeight, 0.0
	if s.options.Method == Supervised || weight == 0 {
		return nil, nil
	}
	for i := range s.sequences() {
		if s.unlabeled(i) {
			unlabeled = append(unlabeled, i)
			tokens += float64(s.span(i).Len())
		}
	}
	if unlabeled == nil {
		return nil, nil
	}
	if weight == option.AutoWeight {
		weight = option.WeightOf(tokens, s.labeled)
	}
	factor := weight * s.labeled / tokens
	if s.options.Method == Gradient {
		return &ambiguous{Ambiguity{Rho: s.loss.Sharpness()}, factor}, unlabeled
	}
	return newPosterior(s, unlabeled, tokens, factor), unlabeled
}

// ambiguous is the belief of the method gradient.
type ambiguous struct {
	Ambiguity
	full float64
}

func (r *ambiguous) enter(_ weights, part float64) { r.Weight = part * r.full }

func (r *ambiguous) lossOf(int) Loss { return r.Ambiguity }

func (r *ambiguous) rest() float64 { return 0 }
