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

// Costs are what each class costs an unlabeled row at some scores: its loss and its prior cost.
type Costs struct {
	Level     float64 // factor on the losses; λ' but for soft labels
	objective *objective.Objective
	units     units
	values    []float64 // [unlabeled, K]
}

// NewCosts makes room for them at the first use.
func NewCosts(o *objective.Objective) *Costs {
	return &Costs{Level: o.Weight, objective: o, units: newUnits(o.Sample, o.Classes)}
}

// of are the costs [K] of an unlabeled row.
func (c *Costs) of(k int) []float64 {
	classes := c.objective.Classes
	if c.values == nil {
		c.values = make([]float64, len(c.objective.Sample.Unlabeled)*classes)
	}
	return c.values[k*classes : (k+1)*classes]
}

// Measure takes the costs at the current scores of a risk.
func (c *Costs) Measure(r *risk.Risk) {
	c.measure(r)
	c.addPrior(c.Level * weak.Strength)
}

// addPrior adds prior costs times a factor.
func (c *Costs) addPrior(factor float64) {
	for k := range c.objective.Sample.Unlabeled {
		c.objective.Sample.Weak.Of(k).AddTo(c.of(k), factor)
	}
}

// measure takes the losses.
func (c *Costs) measure(r *risk.Risk) {
	k, unlabeled := c.objective.Classes, c.objective.Sample.Unlabeled
	if c.values == nil {
		c.values = make([]float64, len(unlabeled)*k)
	}
	c.objective.Job.EachRow(len(unlabeled), func(lo, hi int) {
		if r.PairCosts(c.values[lo*k:hi*k], unlabeled[lo:hi], c.Level) {
			return
		}
		scores := make([]float64, k)
		for j := lo; j < hi; j++ {
			row := c.values[j*k : (j+1)*k]
			r.Costs(row, unlabeled[j], scores)
			vector.Scale(row, c.Level)
		}
	})
}

// Cheapest changes labels [units] to the best ones at the last costs that keep the class counts, or the shares where
// rows have unequal weights that are no copies.
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

// prior is what the labels [units] cost by the prior costs; those that a row cannot have, of which there are as few as
// any, count nothing.
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

// Potentials of the classes are what to add to the class scores so that the class with the largest score is that of the
// best labeling at these scores.
func (c *Costs) Potentials(score objective.Scorer) []float64 {
	o := c.objective
	for k, i := range o.Sample.Unlabeled {
		score(c.of(k), i)
	}
	vector.Scale(c.values, -1)
	weights := c.units.weights(o.Job)
	return labeling.Cheapest(o.Job, make([]int32, len(weights)), c.units.costsOf(c.values), weights, o.Prior)
}

// Spread of the preferences: the largest standard deviation of a class's cost beyond the mean of the row's. Rows of
// which something is known count as undecided.
func (c *Costs) Spread() float64 {
	o, k := c.objective, c.objective.Classes
	sums := make([]float64, 2*k) // Σ w d, Σ w d² for the difference d of every class
	o.Job.Sum(len(o.Sample.Unlabeled), sums, func(lo, hi int, dst []float64) {
		for j := lo; j < hi; j++ {
			row := c.values[j*k : (j+1)*k]
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

// beginAt takes the scores [unlabeled, K] in place of a risk's, negated.
func (c *Costs) beginAt(scores []float64) {
	c.values = slices.Clone(scores)
	vector.Scale(c.values, -1)
	c.addPrior(1)
}

// ownLabels are the labels of the rows that stay without: nothing is known of most, so that these have the class of the
// largest score, the others their cheapest one, by prior costs in full, as labels of one row each lead farther astray
// than those that keep the class shares.
func (c *Costs) ownLabels(r *risk.Risk, each func(k int, class int32, known bool)) {
	s := c.objective.Sample
	if s.Weak != nil {
		c.measure(r)
		c.addPrior(c.Level)
	}
	scores := make([]float64, c.objective.Classes)
	for k, i := range s.Unlabeled {
		known := s.Weak.Of(k).Known()
		if r.Score(scores, i); known {
			copy(scores, c.of(k))
			vector.Scale(scores, -1)
		}
		each(k, int32(vector.Largest(scores)), known)
	}
}

// Class is the class of the largest score of those that unlabeled row k can have.
func (c *Costs) Class(k int, scores []float64) int32 {
	if row := c.objective.Sample.Weak.Of(k); row.Known() {
		scores = slices.Clone(scores)
		for y := range scores {
			if math.IsInf(row.Of(int32(y)), 1) {
				scores[y] = math.Inf(-1)
			}
		}
	}
	return int32(vector.Largest(scores))
}

// differences counts the labels that differ.
func differences(a, b []int32) int {
	count := 0
	for k := range a {
		if a[k] != b[k] {
			count++
		}
	}
	return count
}
