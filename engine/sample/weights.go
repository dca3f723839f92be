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
func (s *Sample) count(weights []float64) ([]float64, error) {
	rows, smallest, largest := 0.0, math.Inf(1), 0.0
	for i, w := range weights {
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
	counted, broken := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		counted[i] = w / smallest
		if copies := math.Round(counted[i]); math.Abs(counted[i]-copies) <= roundedCopies*copies {
			counted[i] = copies
		} else {
			broken++
		}
	}
	sums := []float64{rows, vector.Sum(counted), broken}
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
func (s *Sample) Units() int { return s.units(s.UnlabeledRows) }

func (s *Sample) units(rows []float64) int {
	if s.Copies == nil {
		return len(rows)
	}
	return int(vector.Sum(rows))
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
	all, factors := vector.Sum(s.All.ClassRows), slices.Repeat([]float64{1}, s.Classes())
	for class, total := range s.All.ClassRows {
		if total > 0 {
			factors[class] = math.Pow(all/total, powers[weight.Rule])
		}
	}
	return factors, nil
}

// keepWeak gives every machine weak labels, if any machine has some, and refuses a fit without labels of either kind.
func (s *Sample) keepWeak() error {
	given := s.Weak != nil
	if !s.All.Weak {
		s.Weak = nil
	} else if !given {
		s.Weak = make(weak.Labels, len(s.Unlabeled))
	}
	if s.All.Labeled == 0 && (!s.All.Weak || s.All.Unlabeled < 2 || s.Options.UnlabeledWeight == 0) {
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
	// Rows, or the copies that their weights stand for: labeled ones, those of them that are no descriptions, others.
	LabeledUnits, DrawnUnits, UnlabeledUnits int

	Described             int       // labeled rows that describe their class
	AllDescribed          bool      // whether every class has one
	Empty                 int       // descriptions without a feature, which count as unlabeled rows
	FirstClass, LastClass int       // of the labels
	ClassRows, DrawnRows  []float64 // [K] weight of the labeled rows of each class, and without descriptions
	Weak                  bool      // whether an unlabeled row is weakly labeled,
	Forbids               bool      // and cannot have a class
}

func (s *Sample) takeCensus(p Problem) error {
	weak, forbids, described, first, last := 0, 0, []float64(nil), math.Inf(1), math.Inf(-1)
	for k := range s.Unlabeled {
		if row := s.Weak.Of(k); row.Known() {
			weak++
			if len(row.Class) < s.classes {
				forbids++
			}
		}
	}
	for k, y := range s.Class {
		if first, last = min(first, float64(y)), max(last, float64(y)); s.Describes[k] {
			described = append(described, s.LabeledRows[k])
		}
	}
	all, count := &s.All, s.Job.Count
	all.Rows, all.Labeled, all.Unlabeled = count(p.Rows.Rows()), count(len(s.Labeled)), count(len(s.Unlabeled))
	all.LabeledUnits, all.UnlabeledUnits = count(s.units(s.LabeledRows)), count(s.Units())
	all.DrawnUnits = all.LabeledUnits - count(s.units(described))
	all.Described, all.Empty = count(len(described)), count(all.Empty)
	all.Weak, all.Forbids = count(weak) > 0, count(forbids) > 0
	if err := s.keepWeak(); err != nil {
		return err
	}
	if first, last = s.Job.Range(first, last); all.Labeled == 0 { // weakly labeled rows have all classes
		first, last = 0, float64(s.classes-1)
	}
	if all.FirstClass, all.LastClass = int(first), int(last); all.LastClass >= all.Rows {
		return fault.Data("labels have class %d, but there are %d rows: class numbers run from 0 on, without gaps",
			all.LastClass, all.Rows)
	}
	s.countClasses()
	return nil
}

func (s *Sample) countClasses() {
	classes := s.Classes()
	rows := make([]float64, 3*classes) // of each class: all, drawn, describing
	for k, y := range s.Class {
		of := rows[classes:]
		if s.Describes[k] {
			of = rows[2*classes:]
		}
		rows[y] += s.LabeledRows[k]
		of[y] += s.LabeledRows[k]
	}
	s.Job.Reduce(rows)
	s.All.ClassRows, s.All.DrawnRows = rows[:classes], rows[classes:2*classes]
	s.All.AllDescribed = slices.Min(rows[2*classes:]) > 0
}

// Checksum is a checksum of what all machines must have alike: the options and the problem without its rows.
func (p Problem) Checksum(options any) uint64 {
	sum := fnv.New64a()
	fmt.Fprint(sum, options, p.Rows.Cols(), p.Rows.Dense(), p.Classes)
	if p.Start != nil {
		fmt.Fprint(sum, work.Checksum(p.Start.Coef), work.Checksum(p.Start.Intercept))
	}
	return sum.Sum64()
}
