package sample

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Census counts the rows and classes of all machines: a fit branches on these and never on the machine's own.
type Census struct {
	Rows, Labeled, Unlabeled int
	FirstClass, LastClass    int  // of the labels
	Weak                     bool // whether an unlabeled row is weakly labeled,
	Forbids                  bool // and cannot have a class
}

func (s *Sample) takeCensus() error {
	first, last := math.Inf(1), math.Inf(-1)
	if len(s.Class) > 0 {
		first, last = float64(slices.Min(s.Class)), float64(slices.Max(s.Class))
	}
	known, forbidding := s.countWeak()
	sums := []float64{float64(s.Rows.Rows()), float64(len(s.Labeled)), float64(len(s.Unlabeled)), known, forbidding}
	s.Job.Reduce(sums)
	first, last = s.Job.Range(first, last)
	if err := s.keepWeak(sums[3] > 0, sums[1] > 0); err != nil {
		return err
	}
	if sums[1] == 0 {
		first, last = 0, float64(s.classes-1) // weakly labeled rows have them
	}
	s.All = Census{int(sums[0]), int(sums[1]), int(sums[2]), int(first), int(last), sums[3] > 0,
		sums[4] > 0}
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
