package belief

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Soft is the belief of annealing: the free energy as a function of W, with the soft labels at their best values.
type Soft struct {
	*risk.Risk
	costs       *Costs
	temperature float64
	potentials  []float64 // [K] v
	labels      []int32   // [unlabeled] the likeliest ones
}

// NewSoft gives the unlabeled rows, once admitted, the class prior as soft labels and the weight of the costs' level.
func NewSoft(r *risk.Risk, costs *Costs) *Soft {
	o := costs.objective
	unlabeled := o.Sample.Unlabeled
	r.SoftLabels = slices.Repeat(o.Prior, len(unlabeled))
	for k, i := range unlabeled {
		r.Label[i], r.Place[i] = -1, int32(k)
	}
	costs.weigh(r, costs.Level)
	costs.Measure(r)
	return &Soft{Risk: r, costs: costs, potentials: make([]float64, o.Classes), labels: make([]int32, len(unlabeled))}
}

func (s *Soft) Enter(temperature float64) { s.temperature = temperature }

// Relabel counts the likeliest labels that have changed.
func (s *Soft) Relabel() (switched int, entropy float64) {
	var sums [2]float64 // labels changed, entropy in bits
	k, weights := s.costs.objective.Classes, s.costs.objective.Sample.UnlabeledWeight
	s.costs.objective.Job.Total(len(s.labels), sums[:], func(lo, hi int, part []float64) {
		for j := lo; j < hi; j++ {
			row := s.SoftLabels[j*k : (j+1)*k]
			if y := int32(vector.Largest(row)); s.labels[j] != y {
				s.labels[j] = y
				part[0]++
			}
			part[1] += weights[j] * labeling.Entropy(row)
		}
	})
	return int(sums[0]), sums[1]
}

func (s *Soft) Gradient(dst []float64) float64 {
	s.Renew()
	return s.Risk.Gradient(dst)
}

// Renew sets the soft labels to the best ones at the current scores that keep the class shares.
func (s *Soft) Renew() {
	o := s.costs.objective
	s.costs.Measure(s.Risk)
	labeling.SoftLabels(o.Job, s.SoftLabels, s.costs.values, o.Sample.UnlabeledWeight, o.Prior, s.potentials,
		s.temperature, nearShares)
}

// nearShares is how near the shares soft labels are; labeling.Exact takes twice the evaluations to the same labels.
const nearShares = 1e-5

// Harden finds the best hard labels at the costs with the whole weight; changed are those that were not the likeliest.
func (s *Soft) Harden(exchange Exchange) (hard *Hard, changed int) {
	o := s.costs.objective
	s.costs.Level = o.Weight
	s.costs.Measure(s.Risk)
	likeliest := ofUnits(s.costs, s.labels, 1)
	hard = NewHard(s.Risk, s.costs, exchange)
	copy(hard.Labels, likeliest)
	s.costs.Cheapest(hard.Labels)
	return hard, o.Job.Count(Differences(hard.Labels, likeliest))
}

// Warm is a belief of soft labels at one temperature, from which hard ones are found.
type Warm struct {
	*Soft
	Hard *Hard
}

func (w Warm) Enter(float64) {}

func (w Warm) Relabel() (switched int, entropy float64) { return w.Hard.Relabel() }
