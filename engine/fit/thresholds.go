package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// balance of a method resolves "auto". Where shares were estimated and labels were probably chosen class by class,
// thresholds stay near where the labels put them: moved to an estimate they take over its error (docs/notes/alpha.md).
func (d *Data) balance(spec *method.Spec) string {
	switch {
	case d.options.Balance != "auto":
		return d.options.Balance
	case d.prior.ChosenLabels && !spec.KeepsMean:
		return "labels"
	case spec.Balance == "mean" && d.options.Loss.Spec().ClassScores:
		return "share"
	}
	return spec.Balance
}

// thresholdPart is the part of the way that the intercepts move at the end to where each class gets its share. Where
// labels hold them, it grows with their number, as the estimate of the shares gets better; few rows carry a part alone.
func (d *Data) thresholdPart(spec *method.Spec) float64 {
	switch {
	case !d.options.FitIntercept || !d.sample.Transductive() || d.sample.Constant() || d.options.Balance == "labels" ||
		spec.Direct():
		return 0
	case d.balance(spec) != "labels":
		return d.carries
	}
	return d.carries * d.labels / (d.labels + holdingLabels)
}

const holdingLabels = 20 // labels a class that hold the thresholds as much as the estimated shares move them

// moveIntercepts adds a part of the potentials of the best labeling to the class scores; the whole gives it the largest
// ones. It returns what it adds; nil: nothing.
func moveIntercepts(r *method.Run, solution *method.Solution, part float64) (shift []float64) {
	o, outputs := r.Objective, solution.Outputs
	score := solution.Score(o)
	shift = r.Costs.Potentials(func(dst []float64, _ int, i int32) { score(dst, i) }, o.Prior)
	vector.Scale(shift, part)
	if len(solution.Intercept) == 1 {
		shift = []float64{(shift[1] - shift[0]) / 2}
	}
	_, before := o.Value(solution.Loss, 0, score)
	solution.Outputs = slices.Clone(outputs)
	o.Job.Every(o.Sample.Rows.Rows(), func(i int) {
		vector.Add(solution.Outputs[i*len(shift):(i+1)*len(shift)], 1, shift)
	})
	if _, after := o.Value(solution.Loss, 0, score); !(o.Distance(after) < o.Distance(before)-roundedShare) {
		solution.Outputs = outputs // many equal scores
		return nil
	}
	for y, v := range shift {
		if !o.Centered && o.Scores.Flat() { // intercepts are regularized; in a tree the nodes' are, and stay
			solution.Regularizer += o.Alpha / 2 * v * (2*solution.Intercept[y] + v)
		}
		solution.Intercept[y] += v
	}
	return shift
}

// settleThresholds moves the intercepts of a method that learns from probabilities, and not its soft labels.
//
//	Problem  scores by few labels are small: an intercept alone can give probabilities the class shares as means, and
//	         nearly all rows the largest class. Intercepts move to where the classes predicted have the shares, and as
//	         little as few rows tell from those of the supervised classifier
//	Symbols  u as in committee.go
//	Source   ours. Measured in docs/notes/alpha.md
//	Differences  "entropy" keeps its own for the former: its probabilities are nearly 0 or 1
//	Cost     that of moving intercepts; where u < 1 the supervised fit
func (f *fitted) settleThresholds() error {
	d := f.data
	if !f.spec.UsesProbabilities || d.thresholdPart(f.spec) == 0 {
		return nil
	}
	if f.spec.Balance == "share" || d.options.Balance == "share" {
		of := d.decisions(d.sample.Packed(f.Model))
		score := func(dst []float64, _ int, i int32) { copy(dst, of.scores(i)) }
		f.move(belief.NewCosts(d.objective(d.sample.Job, f.spec)).Potentials(score, d.prior.Shares))
	}
	return f.nearSupervised()
}

// nearSupervised makes the intercepts u times what they are and 1 - u times those of the supervised classifier, and
// predicts the unlabeled rows anew.
func (f *fitted) nearSupervised() error {
	d, u := f.data, f.data.tells
	if u < 1 {
		supervised, err := d.Train(Member{method: method.Supervised})
		if err != nil {
			return err
		}
		vector.Scale(f.Model.Intercept, u)
		vector.Add(f.Model.Intercept, 1-u, supervised.Model.Intercept)
	}
	f.relabel(d.decisions(d.sample.Packed(f.Model)))
	return nil
}

// move adds to the class scores.
func (f *fitted) move(shift []float64) {
	if f.Model.Outputs == 1 {
		shift = []float64{shift[1] - shift[0]}
	}
	vector.Add(f.Model.Intercept, 1, shift)
}

// moveForNewRows moves the intercepts so that new rows get each class as often as the unlabeled rows do, which keep
// their classes.
//
//	Problem  the potentials with which the scores of the unlabeled rows, less the parts that they owe to themselves,
//	         give each class as often as the scores do. A row of the fit is farther from the threshold than a new one:
//	         new rows of small classes are lost if the threshold stays
//	Source   ours, after Joachims 2000 (estimates that take out a row's part of the solution). Measured in
//	         docs/notes/alpha.md
//	Differences  where shares are estimated and there are many rows for each label, a part of the way: such an estimate
//	         is often too even, which the distance of the own rows makes up for
//	Stops    well before an unlabeled row has another class; the whole way where the method has no labels of these rows,
//	         as far as few of them tell
//	Cost     that of moving intercepts, and two passes
func (f *fitted) moveForNewRows() error {
	d, s := f.data, f.data.sample
	if d.thresholdPart(f.spec) == 0 || d.options.Balance != "auto" || f.spec.UsesProbabilities {
		return nil
	}
	of := d.decisions(s.Packed(f.Model))
	if f.own == nil {
		f.own = f.ownParts(of)
	}
	shares := d.meanOf(of, s.Classes(), func(sum []float64, weight float64, _ int, scores, _ []float64) {
		sum[vector.Largest(scores)] += weight
	})
	shift := belief.NewCosts(d.objective(s.Job, f.spec)).Potentials(func(dst []float64, k int, i int32) {
		copy(dst, of.scores(i))
		vector.Add(dst, -1, f.own[k*len(dst):(k+1)*len(dst)])
	}, shares)
	for y, share := range shares {
		if share == 0 {
			shift[y] = 0
		}
	}
	part := d.carries
	if d.prior.Evidence != nil {
		part *= min(1, rowsPerLabel*d.labels*float64(s.Classes())/float64(s.All.UnlabeledUnits))
	}
	if f.spec.OwnLoss == nil {
		part = d.harmless(of, shift, part)
	}
	vector.Scale(shift, part)
	f.move(shift)
	if f.spec.OwnLoss != nil {
		return f.nearSupervised()
	}
	return nil
}

const (
	rowsPerLabel = 5 // up to so many unlabeled rows a label the whole way
	mostHalved   = 6 // what is left after that many halves is nothing
)

// harmless is this part of a shift of the class scores, or the largest half, quarter, ... of it by which no unlabeled
// row has another class; 0: there is none.
func (d *Data) harmless(of decisions, shift []float64, part float64) float64 {
	moved := make([]float64, len(shift))
	for halved := 0; halved < mostHalved; halved, part = halved+1, part/2 {
		changed := 0
		for _, i := range d.sample.Unlabeled {
			copy(moved, of.scores(i))
			best := vector.Largest(moved)
			if vector.Add(moved, part, shift); vector.Largest(moved) != best {
				changed++
			}
		}
		if d.sample.Job.Count(changed) == 0 {
			return part
		}
	}
	return 0
}

// ownParts are the parts [unlabeled, K] of the class scores that rows owe to themselves, copies each its own. But for
// intercepts W = -1/α Σ_i c_i g_i (x_i - μ)ᵀ, with the gradients g_i of the losses for the classes predicted, of a
// loss of unlabeled rows before the thresholds moved.
func (f *fitted) ownParts(of decisions) []float64 {
	s, o := f.data.sample, f.data.objective(f.data.sample.Job, f.spec)
	moved := f.moved
	if len(moved) == 1 {
		moved = []float64{-moved[0], moved[0]}
	}
	l, classes, center := o.Loss(o.Smoothings[len(o.Smoothings)-1]), o.Classes, s.Center(s.Job)
	own, square := make([]float64, len(s.Unlabeled)*classes), vector.Dot(center, center)
	s.Job.CountAndCheck(int64(s.Rows.Subset(s.Unlabeled).NonZeros()))
	s.Job.Stripes(len(s.Unlabeled), func(lo, hi int) {
		scores, slope, state := make([]float64, classes), make([]float64, classes), make([]float64, classes)
		columns, target := make([]float64, max(classes, o.Scores.Columns())), make([]float64, classes)
		for k := lo; k < hi; k++ {
			i := int(s.Unlabeled[k])
			copy(scores, of.scores(int32(i)))
			clear(target)
			target[vector.Largest(scores)] = 1
			if s.Paired() { // the loss takes -z and z
				vector.Scale(scores, 2)
			}
			if o.OwnLoss { // its slopes end within the way that thresholds move
				if moved != nil {
					vector.Add(scores, -1, moved)
				}
				l.At(scores, nil, slope, state)
			} else {
				l.At(scores, target, slope, state)
			}
			length := s.Rows.SquaredNorm(i) + square // |x - μ|²
			s.Rows.Row(i, func(j int, value float64) { length -= 2 * value * center[j] })
			factor := -o.Weight * s.UnlabeledWeight[k] * length / o.Alpha
			if s.Copies != nil {
				factor /= max(1, s.UnlabeledRows[k])
			}
			part := own[k*classes : (k+1)*classes]
			if s.Paired() {
				part[1] = factor * (slope[1] - slope[0]) / 2
				part[0] = -part[1]
				continue
			}
			clear(columns)
			vector.Add(columns[:classes], factor, slope)
			o.Scores.Up(columns)
			o.Scores.Down(columns)
			copy(part, columns)
		}
	})
	return own
}

const roundedShare = 1e-12 // above the rounding of a share, below the weight of a row
