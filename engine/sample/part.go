package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Subsample draws one of Fraction unlabeled rows.
const (
	Fraction     = 1 << fractionBits
	fractionBits = 3
	nearShare    = 0.1 // allowed distance of the rows drawn from 1/Fraction of all, relative to that,
	chance       = 3.0 // and to its root
	nearLength   = 2   // allowed ratio of the lengths of the part and of all rows: alpha is in this unit
)

// Part is a sample with a part of the rows of another one.
type Part struct {
	Sample *Sample
	Rows   []int32 // numbers of its rows in the whole, -1 for rows of other machines
}

// Subsample is the same problem with given class shares and a part of the unlabeled rows, drawn by their keys: the same
// rows in any order, on any number of machines. These share the part, or each has all of it if it has at most
// maxGathered non-zeros. It is nil if so many rows are equal, or so long, that the part is not like the whole, or if a
// machine has no memory for it.
func (s *Sample) Subsample(shares []float64, chosenLabels bool, maxGathered int) (*Part, error) {
	key := s.keys
	if key == nil {
		key = s.prepared.allKeys(s.Job)
	}
	labeled, unlabeled, taken, nonZeros := make([]int, len(s.Labeled)), []int(nil), 0.0, 0
	for k := range labeled {
		labeled[k] = k
	}
	for k, i := range s.Unlabeled {
		if key[i]>>(fractionBits*s.depth)%Fraction == 0 {
			unlabeled = append(unlabeled, k)
			taken += s.count(k)
		}
	}
	p, rows := s.Restricted(labeled, unlabeled, chosenLabels)
	for _, i := range rows {
		nonZeros += s.Rows.RowNonZeros(int(i))
	}
	counts := []float64{taken, float64(s.Units()), float64(nonZeros), 0}
	if need(bytesOfPart*float64(nonZeros), "a part of the rows", "") != nil {
		counts[3]++
	}
	s.Job.Reduce(counts)
	expected, lacking := counts[1]/Fraction, counts[3]
	if lacking > 0 || math.Abs(counts[0]-expected) > nearShare*expected+chance*math.Sqrt(expected) {
		return nil, nil
	}
	keys, job := make([]uint64, len(rows)), s.Job
	for k, i := range rows {
		keys[k] = key[i]
	}
	if job.Group != nil && counts[2] <= float64(maxGathered) {
		p.Rows, _ = s.Rows.Gathered(job, rows)
		rows, keys, job = p.gather(job, rows), gatherKeys(job, keys), job.Local()
	} else {
		p.Rows = s.Rows.Selected(job.Pool, rows)
	}
	options := s.Options
	options.ClassPrior = ClassPrior{Shares: shares, Rule: "auto"}
	part, err := New(p, options, job)
	if err != nil || part.Length > nearLength || part.Length < 1./nearLength {
		return nil, err
	}
	part.Pass, part.depth, part.keys = s.Pass, s.depth+1, keys
	return &Part{part, rows}, nil
}

const bytesOfPart = 8 + 4 + 4 // a non-zero: value, feature, and its number as packed

// gather replaces labels and weights by those of all machines, and returns the numbers of the rows, -1 for rows of
// other machines.
func (p *Problem) gather(job *work.Job, rows []int32) []int32 {
	p.Weak = p.Weak.Gathered(job)
	pairs := make([]float64, 0, 2*len(rows))
	for k := range rows {
		pairs = append(pairs, float64(p.Labels[k]), p.Weights[k])
	}
	all, first := job.Gather(pairs)
	number := slices.Repeat([]int32{-1}, len(all)/2)
	copy(number[first/2:], rows)
	p.Labels, p.Weights = make([]int32, len(number)), make([]float64, len(number))
	for k := range number {
		p.Labels[k], p.Weights[k] = int32(all[2*k]), all[2*k+1]
	}
	return number
}

// gatherKeys are the keys of all machines, sent as two halves.
func gatherKeys(job *work.Job, keys []uint64) []uint64 {
	halves := make([]float64, 0, 2*len(keys))
	for _, key := range keys {
		halves = append(halves, float64(key>>32), float64(key&math.MaxUint32))
	}
	all, _ := job.Gather(halves)
	keys = make([]uint64, len(all)/2)
	for k := range keys {
		keys[k] = uint64(all[2*k])<<32 | uint64(all[2*k+1])
	}
	return keys
}

// count is the number of rows that unlabeled row k stands for.
func (s *Sample) count(k int) float64 {
	if s.Copies == nil {
		return 1
	}
	return s.UnlabeledRows[k]
}
