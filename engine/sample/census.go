package sample

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/weak"
	"github.com/fewlabel/fewlabel/engine/work"
)

// classes is the number of classes that is given, or of weak labels; 0: neither.
func (p Problem) classes() int {
	if p.Classes == 0 && p.Weak != nil {
		return p.Weak.Classes
	}
	return p.Classes
}

// keepWeak gives every machine weak labels, if any machine has some, and refuses a fit without labels of either kind.
func (s *Sample) keepWeak(known, labeled bool) error {
	given := s.Weak != nil
	if !known {
		s.Weak = nil
	} else if !given {
		s.Weak = weak.Unknown(s.classes, len(s.Unlabeled))
	}
	if !labeled && (!known || s.Job.Count(len(s.Unlabeled)) < 2 || s.Options.UnlabeledWeight == 0) {
		return NoLabel(given)
	}
	return nil
}

// NoLabel is the error of a fit without labels; given is whether weak labels were given.
func NoLabel(given bool) error {
	if !given {
		return fault.Data("labels: no row has a label; at least one labeled row of each class is needed")
	}
	return fault.Data("labels: no row has a label, and sets or probabilities of classes count only where they say " +
		"something of a row and unlabeled_weight is above 0")
}

// Restricted is the problem, without Rows, of the labeled rows at the places that are kept and the unlabeled ones at
// these places, and their numbers.
func (s *Sample) Restricted(keep func(k int) bool, unlabeled []int, chosenLabels bool) (p Problem, rows []int32) {
	p = Problem{Classes: s.Classes(), ChosenLabels: chosenLabels, Copies: s.Copies != nil}
	places := make([]int32, 0, len(s.Labeled)+len(unlabeled))
	for k, i := range s.Labeled {
		if keep(k) {
			rows, places = append(rows, i), append(places, -1)
			p.Labels, p.Weights = append(p.Labels, s.Class[k]), append(p.Weights, s.LabeledRows[k])
		}
	}
	for _, k := range unlabeled {
		rows, places = append(rows, s.Unlabeled[k]), append(places, int32(k))
		p.Labels, p.Weights = append(p.Labels, -1), append(p.Weights, s.UnlabeledRows[k])
	}
	p.Weak = s.Weak.Selected(places)
	return p, rows
}

// Census counts the rows and classes of all machines: a fit branches on these and never on the machine's own.
type Census struct {
	Rows, Labeled, Unlabeled int
	FirstClass, LastClass    int  // of the labels
	Weak                     bool // whether an unlabeled row is weakly labeled,
	Forbids                  bool // and cannot have a class
}

func (s *Sample) takeCensus(Problem) error {
	first, last := math.Inf(1), math.Inf(-1)
	if len(s.Class) > 0 {
		first, last = float64(slices.Min(s.Class)), float64(slices.Max(s.Class))
	}
	sums := []float64{float64(s.Rows.Rows()), float64(len(s.Labeled)), float64(len(s.Unlabeled)), 0, 0}
	for k := range s.Unlabeled {
		if row := s.Weak.Of(k); row.Known() {
			sums[3]++
			if len(row.Class) < s.classes {
				sums[4]++
			}
		}
	}
	s.Job.Reduce(sums)
	first, last = s.Job.Range(first, last)
	if err := s.keepWeak(sums[3] > 0, sums[1] > 0); err != nil {
		return err
	}
	if sums[1] == 0 {
		first, last = 0, float64(s.classes-1) // weakly labeled rows have them
	}
	s.All = Census{int(sums[0]), int(sums[1]), int(sums[2]), int(first), int(last), sums[3] > 0, sums[4] > 0}
	if s.All.LastClass >= s.All.Rows {
		return fault.Data("labels have class %d, but there are %d rows: class numbers run from 0 on, without gaps",
			s.All.LastClass, s.All.Rows)
	}
	return nil
}

// Checksum is a checksum of what all machines must have alike: the options and the problem without its rows.
func (p Problem) Checksum(options any) uint64 {
	sum := fnv.New64a()
	fmt.Fprint(sum, options, p.Rows.Cols(), p.Rows.Dense(), p.classes())
	if p.Start != nil {
		fmt.Fprint(sum, work.Checksum(p.Start.Coef), work.Checksum(p.Start.Intercept))
	}
	return sum.Sum64()
}

const maxCopies = 4 // a row on average: hard labels are found copy by copy

// findCopies keeps weights that are numbers of copies: whole, unequal, not too large. Equal ones are the same as none.
func (s *Sample) findCopies(p Problem) {
	weights := p.Weights
	if p.Copies {
		s.Copies = weights
		return
	}
	broken, rows, total, smallest, largest := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for _, w := range weights {
		switch {
		case w != math.Trunc(w):
			broken++
		case w > 0:
			rows, total, smallest, largest = rows+1, total+w, min(smallest, w), max(largest, w)
		}
	}
	sums := []float64{broken, rows, total}
	s.Job.Reduce(sums)
	smallest, largest = s.Job.Range(smallest, largest)
	if sums[0] == 0 && smallest < largest && sums[2] <= maxCopies*sums[1] {
		s.Copies = weights
	}
}

// Units is the number of the unlabeled rows, or of the copies that their weights stand for.
func (s *Sample) Units() int {
	if s.Copies == nil {
		return len(s.Unlabeled)
	}
	return int(vector.Sum(s.UnlabeledRows))
}

func (s *Sample) weigh(p Problem) error {
	s.UnlabeledWeight = slices.Clone(s.UnlabeledRows)
	if s.Options.UnlabeledWeight == option.AutoWeight { // rows count by their weights
		s.Options.UnlabeledWeight = option.WeightOf(s.Total(s.UnlabeledWeight), s.Total(s.LabeledRows))
	}
	factors, err := s.classFactors()
	if err != nil {
		return err
	}
	s.LabeledWeight = slices.Clone(s.LabeledRows)
	for k, class := range s.Class {
		s.LabeledWeight[k] *= factors[class]
		if w := s.LabeledWeight[k]; !(w > minWeight && w < maxWeight) {
			return fault.Argument("class_weight gives row %d the weight %v: make the weights less unequal", s.Labeled[k], w)
		}
	}
	s.findCopies(p)
	s.normalize(s.LabeledWeight)
	s.normalize(s.UnlabeledWeight)
	return nil
}

// powers of the number of labels of a class by which a rule divides their weights, else 0. With 1 in place of the root
// macro F is as high, and accuracy .001 lower (docs/notes/class-weight.md).
var powers = map[string]float64{"balanced": 1, rootRule: 0.5}

// classFactors are the factors [classes] of the option class_weight, whose rule "auto" ends here: parts of the rows
// have the same.
func (s *Sample) classFactors() ([]float64, error) {
	weight := &s.Options.ClassWeight
	if weight.Factors != nil {
		return weight.Factors, weight.Check(s.Classes(), s.Options.ClassNames)
	}
	if weight.Rule == "auto" {
		weight.Rule = "none"
		if s.Options.ClassPrior.Rule == "auto" && s.Transductive() {
			weight.Rule = rootRule
		}
	}
	totals, factors := s.ClassRows(), slices.Repeat([]float64{1}, s.Classes())
	s.Job.Reduce(totals)
	all := vector.Sum(totals)
	for class, total := range totals {
		if total > 0 {
			factors[class] = math.Pow(all/total, powers[weight.Rule])
		}
	}
	return factors, nil
}

const (
	scaleRows     = 1024 // unlabeled rows that are looked at
	minRows       = 20   // with fewer a variance is uncertain
	topFeatures   = 10
	minFeatures   = 200
	dominantShare = 0.2  // of the variance, by the topFeatures
	frequentRows  = 0.2  // of the rows: frequent words are in more
	frequentShare = 0.05 // of the squared length, by frequent words
	mostFrequent  = 0.2  // of the features; pixels have more
)

// ScaleWarnings is at most one warning of sparse rows of at least minFeatures features: a transductive fit is likely to
// separate them by something else than the classes. A part of the rows has none.
//
//	Problem  do topFeatures have more than dominantShare of the sum of the variances? If not, do features of more than
//	         frequentRows of the rows have more than frequentShare of the squared length?
//	Source   ours; measured: docs/notes/scales.md
//	Cost     part of a pass over the data
func (s *Sample) ScaleWarnings() []warning.Warning {
	if s.depth > 0 || s.Rows.Dense() || !s.Transductive() || s.Constant() || s.Rows.Cols() < minFeatures {
		return nil
	}
	use := usesOf(s)
	if use.rows < minRows {
		return nil
	}
	if first, share := use.dominant(); share > dominantShare {
		return []warning.Warning{warning.DominantFeatures.Of(float64(s.Feature[first]), share)}
	}
	if first, share := use.frequent(); share > frequentShare {
		return []warning.Warning{warning.FrequentFeatures.Of(float64(s.Feature[first]), share)}
	}
	return nil
}

type uses struct {
	rows           float64
	with, negative []float64 // [features] rows with the feature, and with a value below 0
	sum, squares   []float64 // [features] of its values
}

func usesOf(s *Sample) uses {
	d := s.Rows.Cols()
	u := uses{0, make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)}
	step := max(1, (len(s.Unlabeled)+scaleRows-1)/scaleRows)
	for k := 0; k < len(s.Unlabeled); k += step {
		u.rows++
		s.Rows.Row(int(s.Unlabeled[k]), func(col int, value float64) {
			u.with[col]++
			if value < 0 {
				u.negative[col]++
			}
			u.sum[col] += value
			u.squares[col] += value * value
		})
	}
	return u
}

// dominant is the feature of the largest variance, and the share of the topFeatures in the sum of the variances.
func (u uses) dominant() (first int, share float64) {
	variances := make([]float64, len(u.sum))
	for j, sum := range u.sum {
		variances[j] = max(0, u.squares[j]/u.rows-sum/u.rows*(sum/u.rows))
	}
	total := vector.Sum(variances)
	if total == 0 {
		return 0, 0
	}
	first = vector.Largest(variances)
	for range topFeatures {
		largest := vector.Largest(variances)
		share += variances[largest] / total
		variances[largest] = 0
	}
	return first, share
}

// frequent is the longest of the features that are as frequent as stop words, and the share of all of them in the
// squared length. Values of words have one sign, unlike those of an encoder.
func (u uses) frequent() (first int, share float64) {
	found, long := 0, make([]float64, len(u.with))
	for j, with := range u.with {
		if oneSign := u.negative[j] == 0 || u.negative[j] == with; with > frequentRows*u.rows && oneSign {
			found++
			long[j] = u.squares[j]
		}
	}
	total := vector.Sum(u.squares)
	if total == 0 || float64(found) > mostFrequent*float64(len(u.with)) {
		return 0, 0
	}
	return vector.Largest(long), vector.Sum(long) / total
}
