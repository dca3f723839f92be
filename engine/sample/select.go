package sample

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/weak"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Selection has rows of a sample, each with a class, or -1, and a weight: a part of the rows, all of them with other
// labels, or with copies of some.
type Selection struct {
	Rows     []int32
	Class    []int32 // as Problem.Labels
	Weights  []float64
	Weak     weak.Labels // [Rows] of rows without a class; nil: nothing is known of any
	Gathered bool        // every machine of a group gets the selected rows of all
}

// Keep selects the labeled rows but for the places that are held out, if any, and the unlabeled rows at these places.
func (s *Sample) Keep(held func(k int) bool, unlabeled []int) (kept Selection) {
	var places []int32
	for k, i := range s.Labeled {
		if held == nil || !held(k) {
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

// Every selects all rows in their order, and then copies of rows with the classes of their own.
func (s *Sample) Every(copies Selection) Selection {
	n := s.Rows.Rows()
	out := Selection{Rows: append(rows.Numbers(n), copies.Rows...),
		Class:   append(slices.Repeat([]int32{-1}, n), copies.Class...),
		Weights: append(make([]float64, n), copies.Weights...)}
	for k, i := range s.Labeled {
		out.Class[i], out.Weights[i] = s.label(k), s.LabeledRows[k]
	}
	places := slices.Repeat([]int32{-1}, len(out.Rows))
	for k, i := range s.Unlabeled {
		out.Weights[i], places[i] = s.UnlabeledRows[k], int32(k)
	}
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
	part = s.Keep(nil, unlabeled)
	drawn, expected := s.Job.Count(s.units(part.Weights[len(s.Labeled):])), float64(s.All.UnlabeledUnits)/float64(fraction)
	part.Gathered = s.Job.Count(s.Rows.Subset(part.Rows).NonZeros()) <= maxGathered
	return part, math.Abs(float64(drawn)-expected) <= chance*math.Sqrt(expected)
}

// Drawn are the places in Unlabeled of about maxRows unlabeled rows of all machines, picked by their keys, so that the
// order of rows does not matter; of equal rows it picks that fraction.
func (s *Sample) Drawn(maxRows int) (places []int) {
	keys, bound := s.Keys(s.Job), uint64(float64(maxRows)/float64(s.All.Unlabeled)*(1<<32))
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
			var first int
			selected, first = s.Rows.Gathered(job, chosen.Rows)
			keys = chosen.gather(job, keys)
			source = slices.Repeat([]int32{-1}, len(keys))
			copy(source[first:], chosen.Rows)
			job = job.Local()
		} else {
			selected = s.Rows.Selected(job.Pool, chosen.Rows)
		}
		prepared.Rows, prepared.Feature = selected.Packed(job)
	}
	prepared.keysOnce.Do(func() { prepared.keys = keys })
	p := Problem{Rows: selected, Labels: chosen.Class, Weights: chosen.Weights, Weak: chosen.Weak, Classes: s.Classes(),
		Prepared: prepared}
	part := begin(p, options, job)
	if part.Source = source; s.Copies != nil {
		part.Copies = p.Weights
	}
	err = part.make(p)
	part.Pass = s.Pass
	return part, err
}

// gather gives the selection the labels of the rows of all machines, and returns the keys of these.
func (s *Selection) gather(job *work.Job, keys []uint64) (allKeys []uint64) {
	var own []float64 // of every row its class, weight, halves of the key, and numbers of its weak label
	for k, key := range keys {
		row := s.Weak.Of(k)
		own = append(own, float64(s.Class[k]), s.Weights[k], float64(key>>32), float64(key&math.MaxUint32),
			float64(2*len(row.Class)))
		for j, y := range row.Class {
			own = append(own, float64(y), row.Cost[j])
		}
	}
	s.Class, s.Weights, s.Weak = nil, nil, nil
	for all, _ := job.Gather(own); len(all) > 0; all = all[5+int(all[4]):] {
		s.Class, s.Weights = append(s.Class, int32(all[0])), append(s.Weights, all[1])
		allKeys = append(allKeys, uint64(all[2])<<32|uint64(all[3]))
		row := weak.Row{}
		for entry := range slices.Chunk(all[5:5+int(all[4])], 2) {
			row.Class, row.Cost = append(row.Class, int32(entry[0])), append(row.Cost, entry[1])
		}
		s.Weak = append(s.Weak, row)
	}
	return allKeys
}
