package sample

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
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
