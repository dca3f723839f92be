package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Selection has rows of a sample, each with a class, or -1, and a weight: a part of the rows, all of them with other
// labels, or with copies of some.
type Selection struct {
	Rows     []int32
	Class    []int32 // as Problem.Labels
	Weights  []float64
	Weak     *weak.Labels // [Rows] of rows without a class; nil: nothing is known of any
	Gathered bool         // every machine of a group gets the selected rows of all
}

// Keep selects the labeled rows at the places that are kept, and the unlabeled rows at these places.
func (s *Sample) Keep(keep func(k int) bool, unlabeled []int) (kept Selection) {
	var places []int32
	for k, i := range s.Labeled {
		if keep(k) {
			kept.Add(i, s.label(k), s.LabeledRows[k])
			places = append(places, -1)
		}
	}
	for _, k := range unlabeled {
		kept.Add(s.Unlabeled[k], -1, s.UnlabeledRows[k])
		places = append(places, int32(k))
	}
	kept.Weak = s.Weak.Selected(places)
	return kept
}

// Every selects all rows in their order, but nothing that is known of unlabeled rows.
func (s *Sample) Every() Selection {
	n := s.Rows.Rows()
	out := Selection{Rows: rows.Numbers(n), Class: slices.Repeat([]int32{-1}, n), Weights: make([]float64, n)}
	for k, i := range s.Labeled {
		out.Class[i], out.Weights[i] = s.label(k), s.LabeledRows[k]
	}
	for k, i := range s.Unlabeled {
		out.Weights[i] = s.UnlabeledRows[k]
	}
	return out
}

// WithCopies selects all rows, and then copies of rows with the classes of their own.
func (s *Sample) WithCopies(copies Selection) Selection {
	out, places := s.Every(), slices.Repeat([]int32{-1}, s.Rows.Rows()+len(copies.Rows))
	for k, i := range s.Unlabeled {
		places[i] = int32(k)
	}
	out.Rows = append(out.Rows, copies.Rows...)
	out.Class = append(out.Class, copies.Class...)
	out.Weights = append(out.Weights, copies.Weights...)
	out.Weak = s.Weak.Selected(places)
	return out
}

// Add adds a row with a class and a weight.
func (s *Selection) Add(row, class int32, weight float64) {
	s.Rows, s.Class, s.Weights = append(s.Rows, row), append(s.Class, class), append(s.Weights, weight)
}

// chance is the allowed distance of the number of rows drawn from the expected one, in roots of that: equal rows are
// drawn together.
const chance = 5.0

// Part selects the labeled rows and one of fraction unlabeled rows, by their keys, so that the order of rows does not
// matter. Machines share the part, or each has all of it if it has at most maxGathered non-zeros. There is none if the
// rows drawn are not like the whole, as where many rows are equal.
func (s *Sample) Part(fraction uint64, maxGathered int) (part Selection, ok bool) {
	key := s.Keys(s.Job)
	var unlabeled []int
	for k, i := range s.Unlabeled {
		if key[i]%fraction == 0 {
			unlabeled = append(unlabeled, k)
		}
	}
	part = s.Keep(func(int) bool { return true }, unlabeled)
	drawn := float64(len(unlabeled)) // or the copies that their weights stand for
	if s.Copies != nil {
		drawn = vector.Sum(part.Weights[len(s.Labeled):])
	}
	counts := []float64{drawn, float64(s.Units()), float64(s.Rows.Subset(part.Rows).NonZeros())}
	s.Job.Reduce(counts)
	expected := counts[1] / float64(fraction)
	part.Gathered = counts[2] <= float64(maxGathered)
	return part, math.Abs(counts[0]-expected) <= chance*math.Sqrt(expected)
}

// Drawn are the places in Unlabeled of about maxRows unlabeled rows of all machines, picked by their keys, so that the
// order of rows does not matter; of equal rows it picks that fraction.
func (s *Sample) Drawn(maxRows int) (places []int) {
	total := s.Job.Count(len(s.Unlabeled))
	if total <= maxRows {
		for place := range s.Unlabeled {
			places = append(places, place)
		}
		return places
	}
	keys, bound := s.Keys(s.Job), uint64(float64(maxRows)/float64(total)*(1<<32))
	seen := map[uint64]uint64{} // rows with a key
	for place, i := range s.Unlabeled {
		key := keys[i]
		if (key+seen[key])*Mixer>>32 < bound {
			places = append(places, place)
		}
		seen[key]++
	}
	return places
}

// Mixer is 2^64 over the golden ratio: a key times it has other high bits.
const Mixer = 0x9e3779b97f4a7c15

// Select makes the sample of selected rows, in the units of this one. The caller's options say what is learned.
func (s *Sample) Select(chosen Selection, options Options, job *work.Job) (*Sample, error) {
	nonZeros := s.Rows.Subset(chosen.Rows).NonZeros()
	if chosen.Gathered {
		nonZeros = job.Count(nonZeros)
	}
	err := memory.Need(s.Rows.SelectedBytes(float64(nonZeros)), "a copy of some rows", "give fewer rows, or use a "+
		"machine with more memory")
	if err != nil {
		return nil, err
	}
	keys, all := make([]uint64, len(chosen.Rows)), s.Keys(s.Job)
	for k, i := range chosen.Rows {
		keys[k] = all[i]
	}
	selected, source := s.Rows, chosen.Rows
	prepared := &Prepared{Rows: s.Rows, Feature: rows.Numbers(s.Rows.Cols()), Length: 1}
	if job.Group != nil || !slices.Equal(chosen.Rows, rows.Numbers(s.Rows.Rows())) { // machines number features alike
		if job.Group != nil && chosen.Gathered {
			selected, _ = s.Rows.Gathered(job, chosen.Rows)
			source, keys = chosen.gather(job, keys)
			job = job.Local()
		} else {
			selected = s.Rows.Selected(job.Pool, chosen.Rows)
		}
		prepared.Rows, prepared.Feature = selected.Packed(job)
	}
	prepared.keys = keys
	part := &Sample{prepared: prepared, Source: source}
	p := Problem{Rows: selected, Labels: chosen.Class, Weights: chosen.Weights, Weak: chosen.Weak, Classes: s.Classes()}
	err = part.make(p, options, job, func(p Problem) ([]float64, error) {
		if s.Copies != nil {
			part.Copies = p.Weights
		}
		return p.Weights, nil
	})
	part.Pass = s.Pass
	return part, err
}

// gather gives the selection the labels of the rows of all machines; number has their numbers here, -1 for those of
// others, and allKeys their keys.
func (s *Selection) gather(job *work.Job, keys []uint64) (number []int32, allKeys []uint64) {
	s.Weak = s.Weak.Gathered(job)
	own := make([]float64, 0, 4*len(keys))
	for k, key := range keys {
		own = append(own, float64(s.Class[k]), s.Weights[k], float64(key>>32), float64(key&math.MaxUint32)) // two halves
	}
	all, first := job.Gather(own)
	number = slices.Repeat([]int32{-1}, len(all)/4)
	copy(number[first/4:], s.Rows)
	s.Class, s.Weights = nil, nil
	for row := range slices.Chunk(all, 4) {
		s.Class, s.Weights = append(s.Class, int32(row[0])), append(s.Weights, row[1])
		allKeys = append(allKeys, uint64(row[2])<<32|uint64(row[3]))
	}
	return number, allKeys
}
