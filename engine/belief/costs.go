package belief

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/labeling"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
)

// Costs are the costs of each class for each unlabeled row: its loss and its prior cost.
type Costs struct {
	Level     float64 // factor on the losses; λ' but for soft labels
	objective *objective.Objective
	units     units
	values    []float64 // [unlabeled, K]
}

// NewCosts are costs that take memory from their first use on.
func NewCosts(o *objective.Objective) *Costs {
	return &Costs{Level: o.Weight, objective: o, units: newUnits(o.Sample, o.Classes)}
}

// room makes the values at the first use.
func (c *Costs) room() []float64 {
	if c.values == nil {
		c.values = make([]float64, len(c.objective.Sample.Unlabeled)*c.objective.Classes)
	}
	return c.values
}

// row has the costs [K] of an unlabeled row.
func (c *Costs) row(k int) []float64 {
	return c.room()[k*c.objective.Classes : (k+1)*c.objective.Classes]
}

// Measure finds the costs at the current scores of a risk.
func (c *Costs) Measure(r *risk.Risk) {
	c.measure(r)
	c.addPrior(c.Level * weak.Strength)
}

func (c *Costs) addPrior(factor float64) {
	for k := range c.objective.Sample.Unlabeled {
		c.objective.Sample.Weak.Of(k).AddTo(c.row(k), factor)
	}
}

// measure finds the losses.
func (c *Costs) measure(r *risk.Risk) {
	k, unlabeled, values := c.objective.Classes, c.objective.Sample.Unlabeled, c.room()
	c.objective.Job.EachRow(len(unlabeled), func(lo, hi int) {
		if r.PairCosts(values[lo*k:hi*k], unlabeled[lo:hi], c.Level) {
			return
		}
		scores := make([]float64, k)
		for j := lo; j < hi; j++ {
			r.Costs(c.row(j), unlabeled[j], scores)
			vector.Scale(c.row(j), c.Level)
		}
	})
}

// Cheapest changes labels [units] to the best ones at the last costs that keep the class counts, or the class shares
// where weights are unequal and no numbers of copies.
func (c *Costs) Cheapest(labels []int32) {
	o := c.objective
	labeling.CheapestLabels(o.Job, labels, c.finite(), c.units.weights(o.Job), o.Prior)
}

// finite are the costs [units, K] for hard labels.
func (c *Costs) finite() []float64 {
	o := c.objective
	if o.Sample.All.Forbids {
		labeling.Finite(o.Job, c.values, o.Classes)
	}
	return c.units.costsOf(c.values)
}

// prior is the sum of the prior costs of labels [units]. Labels that a row cannot have, as few as possible, count 0.
func (c *Costs) prior(labels []int32) float64 {
	s, sum := c.objective.Sample, []float64{0}
	if s.Weak == nil {
		return 0
	}
	for k, y := range labels {
		row, part := c.units.rowOf(k)
		if cost := s.Weak.Of(row).Of(y); !math.IsInf(cost, 1) {
			sum[0] += part * c.objective.Weight * s.UnlabeledWeight[row] * weak.Strength * cost
		}
	}
	c.objective.Job.Reduce(sum)
	return sum[0]
}

// Potentials of the classes, added to the class scores, give the best labeling at these scores as the largest ones.
func (c *Costs) Potentials(score objective.Scorer) []float64 {
	o := c.objective
	for k, i := range o.Sample.Unlabeled {
		score(c.row(k), i)
	}
	vector.Scale(c.values, -1)
	weights := c.units.weights(o.Job)
	return labeling.Cheapest(o.Job, make([]int32, len(weights)), c.units.costsOf(c.values), weights, o.Prior)
}

// Spread is the largest standard deviation, over the classes, of cost minus mean cost of the row. Weakly labeled rows
// count 0.
func (c *Costs) Spread() float64 {
	o, k := c.objective, c.objective.Classes
	sums := make([]float64, 2*k) // Σ w d, Σ w d² for the difference d of every class
	o.Job.Sum(len(o.Sample.Unlabeled), sums, func(lo, hi int, dst []float64) {
		for j := lo; j < hi; j++ {
			row := c.row(j)
			if o.Sample.Weak.Of(j).Known() {
				continue
			}
			mean := vector.Sum(row) / float64(k)
			for y, cost := range row {
				dst[y] += o.Sample.UnlabeledWeight[j] * (cost - mean)
				dst[k+y] += o.Sample.UnlabeledWeight[j] * (cost - mean) * (cost - mean)
			}
		}
	})
	spread := 0.0
	for y := range k {
		spread = max(spread, math.Sqrt(max(0, sums[k+y]-sums[y]*sums[y])))
	}
	return spread
}

// beginAt takes negated scores [unlabeled, K] in place of losses.
func (c *Costs) beginAt(scores []float64) {
	c.values = slices.Clone(scores)
	vector.Scale(c.values, -1)
	c.addPrior(1)
}

// freeLabels are labels that keep no class shares: the class of the largest score, for weakly labeled rows the cheapest
// class by the whole prior costs, as such labels go wrong more easily than labels that keep the shares.
func (c *Costs) freeLabels(r *risk.Risk, each func(k int, class int32, known bool)) {
	s := c.objective.Sample
	if s.Weak != nil {
		c.measure(r)
		c.addPrior(c.Level)
	}
	scores := make([]float64, c.objective.Classes)
	for k, i := range s.Unlabeled {
		known := s.Weak.Of(k).Known()
		if r.Score(scores, i); known {
			copy(scores, c.row(k))
			vector.Scale(scores, -1)
		}
		each(k, int32(vector.Largest(scores)), known)
	}
}

func Differences(a, b []int32) int {
	count := 0
	for k := range a {
		if a[k] != b[k] {
			count++
		}
	}
	return count
}
