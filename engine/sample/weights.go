package sample

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
	"github.com/fewlabel/fewlabel/engine/work"
)

// ClassWeight is the option of the factors [classes] on the weights of the labeled rows, or if they are nil the rule to
// find them.
type ClassWeight struct {
	Factors []float64
	Rule    string
}

// WeightRules are "auto", the roots of "balanced" where class_prior is "auto" and unlabeled rows take part, else 1;
// "balanced", by which the labeled rows of every class weigh the same; and "none", 1.
var WeightRules = []string{"auto", "balanced", "none"}

const rootRule = "root" // what "auto" is where it is not "none"

// Check reports given factors that are none, or not as many as classes.
func (w ClassWeight) Check(classes int, names fault.Names) error {
	if w.Factors != nil && len(w.Factors) != classes {
		return fault.Argument("class_weight has %d entries: %d are needed, one a class", len(w.Factors), classes)
	}
	for class, factor := range w.Factors {
		if !(factor > 0 && factor <= option.Largest) {
			return fault.Argument("class_weight of class %s is %v: it must be above 0 and at most %v", names.Of(class), factor,
				option.Largest)
		}
	}
	return nil
}

const maxCopies = 4 // a row on average: hard labels are found copy by copy

// count counts rows by their weights, of which ratios matter: as numbers of copies if all are whole multiples of the
// smallest and not too large, else relative to the mean. Equal weights are none.
func (s *Sample) count(p Problem) ([]float64, error) {
	rows, total, smallest, largest := 0.0, 0.0, math.Inf(1), 0.0
	for i, w := range p.Weights {
		switch {
		case !(w == 0 || w > minWeight && w < maxWeight):
			return nil, fault.Data("weights of row %d is %v: it must be 0, or above %v and below %v", i, w, minWeight, maxWeight)
		case w > 0:
			rows, smallest, largest = rows+1, min(smallest, w), max(largest, w)
		}
	}
	if smallest, largest = s.Job.Range(smallest, largest); !(largest < smallest*maxWeight) && largest > 0 {
		return nil, fault.Data("weights: the smallest is %v, the largest %v: make them less unequal", smallest, largest)
	}
	counted, broken := make([]float64, len(p.Weights)), 0.0
	for i, w := range p.Weights {
		counted[i] = w / smallest
		if copies := math.Round(counted[i]); math.Abs(counted[i]-copies) <= roundedCopies*copies {
			counted[i] = copies
		} else {
			broken++
		}
		total += counted[i]
	}
	sums := []float64{rows, total, broken}
	s.Job.Reduce(sums)
	switch mean := sums[1] / sums[0]; {
	case sums[2] > 0 || mean > maxCopies:
		vector.Scale(counted, 1/mean)
	case smallest < largest:
		s.Copies = counted
	}
	return counted, nil
}

const roundedCopies = 1e-9 // of the number of copies: weights times a factor

// Units is the number of the unlabeled rows, or of the copies that their weights stand for.
func (s *Sample) Units() int {
	if s.Copies == nil {
		return len(s.Unlabeled)
	}
	return int(vector.Sum(s.UnlabeledRows))
}

func (s *Sample) weigh(Problem) error {
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

// Census counts the rows and classes of all machines: a fit branches on these and never on the machine's own.
type Census struct {
	Rows, Labeled, Unlabeled int
	Described                int  // labeled rows that describe their class
	AllDescribed             bool // whether every class has one
	Empty                    int  // descriptions without a feature, which count as unlabeled rows
	FirstClass, LastClass    int  // of the labels
	Weak                     bool // whether an unlabeled row is weakly labeled,
	Forbids                  bool // and cannot have a class
}

func (s *Sample) takeCensus(Problem) error {
	first, last := math.Inf(1), math.Inf(-1)
	if len(s.Class) > 0 {
		first, last = float64(slices.Min(s.Class)), float64(slices.Max(s.Class))
	}
	sums := []float64{float64(s.Rows.Rows()), float64(len(s.Labeled)), float64(len(s.Unlabeled)), 0, 0, 0,
		float64(s.All.Empty)}
	for k := range s.Unlabeled {
		if row := s.Weak.Of(k); row.Known() {
			sums[3]++
			if len(row.Class) < s.classes {
				sums[4]++
			}
		}
	}
	for _, describes := range s.Describes {
		if describes {
			sums[5]++
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
	s.All = Census{Rows: int(sums[0]), Labeled: int(sums[1]), Unlabeled: int(sums[2]), Described: int(sums[5]),
		Empty: int(sums[6]), FirstClass: int(first), LastClass: int(last), Weak: sums[3] > 0, Forbids: sums[4] > 0}
	if s.All.LastClass >= s.All.Rows {
		return fault.Data("labels have class %d, but there are %d rows: class numbers run from 0 on, without gaps",
			s.All.LastClass, s.All.Rows)
	}
	if s.All.Described > 0 {
		described := s.classRows(func(k int) bool { return s.Describes[k] })
		s.Job.Reduce(described)
		s.All.AllDescribed = slices.Min(described) > 0
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
