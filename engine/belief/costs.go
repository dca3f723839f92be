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

// Costs are the costs of each class for each unlabeled row: its loss and its prior cost. Hard labels are those of
// units: the unlabeled rows, or the copies that their weights stand for.
//
//	Problem  the k copies of a row are labeled separately; at most one row per class ends with mixed labels. A row of
//	         weight k gets the same labels, each with its part of the weight
//	Source   ours. With one label a row, a fit with whole weights ended up to 3 times as high as the fit of the copies
//	         (switching, four planted classes), as exchanges of rows of unequal weight lose the class shares
//	Cost     labels take as long as with copies; products do not
type Costs struct {
	Level     float64 // factor on the losses; λ' but for soft labels
	objective *objective.Objective
	values    []float64 // [unlabeled, K], until the next product of the risk
	units     []int32   // [units] place in Unlabeled of each; nil: every row is one
}

func NewCosts(o *objective.Objective) *Costs {
	c := &Costs{Level: o.Weight, objective: o}
	if o.Sample.Copies != nil {
		c.units = []int32{} // not nil
		for k, weight := range o.Sample.UnlabeledRows {
			c.units = append(c.units, slices.Repeat([]int32{int32(k)}, int(weight))...)
		}
	}
	return c
}

func (c *Costs) row(k int) []float64 {
	return c.values[k*c.objective.Classes : (k+1)*c.objective.Classes]
}

// Admit gives the unlabeled rows a weight, and so scores.
func (c *Costs) Admit(r *risk.Risk) {
	c.weigh(r, 1)
	r.UpdateSupport()
}

// weigh gives the unlabeled rows their weights in the sample times a factor.
func (c *Costs) weigh(r *risk.Risk, factor float64) {
	s := c.objective.Sample
	for k, i := range s.Unlabeled {
		r.Cost[i] = factor * s.UnlabeledWeight[k]
	}
}

func (c *Costs) Measure(r *risk.Risk) {
	c.measure(r)
	c.addPrior(c.Level * weak.Strength)
}

func (c *Costs) addPrior(factor float64) {
	for k := range c.objective.Sample.Unlabeled {
		c.objective.Sample.Weak.Of(k).AddTo(c.row(k), factor)
	}
}

// measure finds the losses, and no prior costs, in memory of the risk where it has enough.
func (c *Costs) measure(r *risk.Risk) {
	k, unlabeled := c.objective.Classes, c.objective.Sample.Unlabeled
	if spare := r.Spare(len(unlabeled) * k); spare != nil {
		c.values = spare
	}
	c.room()
	c.objective.Job.Stripes(len(unlabeled), func(lo, hi int) {
		if r.PairCosts(c.values[lo*k:hi*k], unlabeled[lo:hi], c.Level) {
			return
		}
		scores := make([]float64, k)
		for j := lo; j < hi; j++ {
			r.Score(scores, unlabeled[j])
			r.Loss.Costs(c.row(j), scores)
			vector.Scale(c.row(j), c.Level)
		}
	})
}

// Cheapest changes labels [units] to the best ones that keep the class counts, or the shares where weights are unequal.
func (c *Costs) Cheapest(labels []int32) {
	o := c.objective
	labeling.Cheapest(o.Job, labels, c.finite(), c.weights(), o.Prior)
}

// finite are the costs [units, K] for hard labels.
func (c *Costs) finite() []float64 {
	o := c.objective
	if o.Sample.All.Forbids {
		labeling.Finite(o.Job, c.values, o.Classes)
	}
	return ofUnits(c, c.values, o.Classes)
}

// room takes memory for the costs, unless there is some.
func (c *Costs) room() {
	if c.values == nil {
		c.values = make([]float64, len(c.objective.Sample.Unlabeled)*c.objective.Classes)
	}
}

// Potentials added to class scores make the best labeling with these shares that of the largest ones; score puts the
// class scores of unlabeled row k, row i of all, into dst [K].
func (c *Costs) Potentials(score func(dst []float64, k int, i int32), shares []float64) []float64 {
	o := c.objective
	c.room()
	for k, i := range o.Sample.Unlabeled {
		score(c.row(k), k, i)
	}
	vector.Scale(c.values, -1)
	weights := c.weights()
	return labeling.Cheapest(o.Job, make([]int32, len(weights)), ofUnits(c, c.values, o.Classes), weights, shares)()
}

// Spread is the largest standard deviation, over the classes, of cost minus mean cost of the rows not weakly labeled.
func (c *Costs) Spread() float64 {
	o, k := c.objective, c.objective.Classes
	sums := make([]float64, 2*k) // Σ w d, Σ w d² for the difference d of every class
	o.Job.SumRows(len(o.Sample.Unlabeled), 0, sums, func(j int, dst, _ []float64) {
		if o.Sample.Weak.Of(j).Known() {
			return
		}
		mean := vector.Sum(c.row(j)) / float64(k)
		for y, cost := range c.row(j) {
			dst[y] += o.Sample.UnlabeledWeight[j] * (cost - mean)
			dst[k+y] += o.Sample.UnlabeledWeight[j] * (cost - mean) * (cost - mean)
		}
	})
	spread := 0.0
	for y := range k {
		spread = max(spread, math.Sqrt(max(0, sums[k+y]-sums[y]*sums[y])))
	}
	return spread
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

// ofUnits are values [unlabeled, width] of the units' rows.
func ofUnits[T any](c *Costs, values []T, width int) []T {
	if c.units == nil {
		return values
	}
	out := make([]T, 0, len(c.units)*width)
	for _, row := range c.units {
		out = append(out, values[int(row)*width:(int(row)+1)*width]...)
	}
	return out
}

func (c *Costs) weights() []float64 {
	if c.units == nil {
		return c.objective.Sample.UnlabeledWeight
	}
	return slices.Repeat([]float64{1 / float64(c.objective.Job.Count(len(c.units)))}, len(c.units))
}

// label puts the labels of units into a risk; rows with mixed labels become soft.
func (c *Costs) label(r *risk.Risk, labels []int32) {
	s, classes := c.objective.Sample, c.objective.Classes
	if c.units == nil {
		for k, i := range s.Unlabeled {
			r.Label[i] = labels[k]
		}
		return
	}
	r.SoftLabels = make([]float64, len(s.Unlabeled)*classes)
	for k, row := range c.units {
		r.SoftLabels[int(row)*classes+int(labels[k])] += 1 / s.UnlabeledRows[row]
		r.Label[s.Unlabeled[row]] = labels[k]
	}
	for k, row := range c.units {
		if i := s.Unlabeled[row]; r.Label[i] != labels[k] {
			r.Label[i], r.Place[i] = -1, row
		}
	}
}
