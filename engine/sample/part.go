package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Coarse draws one of Fraction unlabeled rows, Third one of three.
const (
	Fraction     = 1 << fractionBits
	fractionBits = 3
	thirdBits    = 40  // of a key, from which Third draws: others than those of Coarse
	nearShare    = 0.1 // allowed distance of the rows drawn from 1/Fraction of all, relative to that,
	chance       = 3.0 // and to its root
	nearLength   = 2   // allowed ratio of the lengths of the part and of all rows: alpha is in this unit
)

type Part struct {
	Sample *Sample
	Rows   []int32 // numbers of its rows in the whole, -1 for rows of other machines
}

// Coarse is a part of the problem with one of Fraction unlabeled rows, of which Coarse gives a part again.
func (s *Sample) Coarse(job *work.Job, shares []float64, chosenLabels bool, maxGathered int) (*Part, error) {
	return s.subsample(job, fractionBits*s.depth, Fraction, shares, chosenLabels, maxGathered)
}

func (s *Sample) Third(job *work.Job, shares []float64, chosenLabels bool, maxGathered int) (*Part, error) {
	return s.subsample(job, thirdBits, 3, shares, chosenLabels, maxGathered)
}

// Keys are the keys [n] of the rows, see rows.Keys.
func (s *Sample) Keys(job *work.Job) []uint64 {
	if s.keys != nil {
		return s.keys
	}
	p := s.prepared
	p.keysOnce.Do(func() { p.keys = p.rows.Keys(job, p.feature) })
	return p.keys
}

// subsample is the same problem with given class shares and a part of the unlabeled rows, drawn by bits of their keys:
// the same rows in any order. Machines share the part, or each has all of it if it has at most maxGathered non-zeros.
// It is nil if the part is not like the whole, as where many rows are equal, or if a machine has no memory for it.
func (s *Sample) subsample(
	job *work.Job, bits int, fraction uint64, shares []float64, chosenLabels bool, maxGathered int,
) (*Part, error) {
	key := s.Keys(job)
	var unlabeled []int
	for k, i := range s.Unlabeled {
		if key[i]>>bits%fraction == 0 {
			unlabeled = append(unlabeled, k)
		}
	}
	p, rows := s.Restricted(func(int) bool { return true }, unlabeled, chosenLabels)
	taken := float64(len(unlabeled)) // or the copies that their weights stand for
	if s.Copies != nil {
		taken = vector.Sum(p.Weights[len(s.Labeled):])
	}
	nonZeros := float64(s.Rows.Subset(rows).NonZeros())
	counts := []float64{taken, float64(s.Units()), nonZeros, 0}
	if memory.Need(s.Rows.SelectedBytes(nonZeros)+s.bytes(s.columns()), "a part of the rows", "") != nil {
		counts[3]++
	}
	job.Reduce(counts)
	expected, lacking := counts[1]/float64(fraction), counts[3]
	if lacking > 0 || math.Abs(counts[0]-expected) > nearShare*expected+chance*math.Sqrt(expected) {
		return nil, nil
	}
	keys := make([]uint64, len(rows))
	for k, i := range rows {
		keys[k] = key[i]
	}
	if job.Group != nil && counts[2] <= float64(maxGathered) {
		p.Rows, _ = s.Rows.Gathered(job, rows)
		rows, keys = p.gather(job, rows, keys)
		job = job.Local()
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

// gather gives the problem the rows of all machines, with their numbers, -1 for other machines' rows, and their keys.
func (p *Problem) gather(job *work.Job, rows []int32, keys []uint64) (number []int32, allKeys []uint64) {
	p.Weak = p.Weak.Gathered(job)
	own := make([]float64, 0, 4*len(rows))
	for k, key := range keys {
		own = append(own, float64(p.Labels[k]), p.Weights[k], float64(key>>32), float64(key&math.MaxUint32)) // two halves
	}
	all, first := job.Gather(own)
	number = slices.Repeat([]int32{-1}, len(all)/4)
	copy(number[first/4:], rows)
	p.Labels, p.Weights = nil, nil
	for row := range slices.Chunk(all, 4) {
		p.Labels, p.Weights = append(p.Labels, int32(row[0])), append(p.Weights, row[1])
		allKeys = append(allKeys, uint64(row[2])<<32|uint64(row[3]))
	}
	return number, allKeys
}
