package svmlight

import "github.com/fewlabel/fewlabel/engine/memory"

// extend appends more to all. When memory is short it asks for what the whole file will need if it goes on as it
// began, see room. An array is then moved once or twice early on and not doubled near the end, where old and new
// together would cost most. What is asked for but never filled costs address space only.
func extend[T any](all, more []T, r room) []T {
	return append(reserve(all, len(more), r), more...)
}

// extendEnds appends the ends of the rows of a block that starts at offset.
func extendEnds(all, ends []int64, offset int64, r room) []int64 {
	all = reserve(all, len(ends), r)
	for _, end := range ends {
		all = append(all, offset+end)
	}
	return all
}

func reserve[T any](all []T, more int, r room) []T {
	needed := len(all) + more
	if needed <= cap(all) {
		return all
	}
	grown := make([]T, len(all), r.forecast(needed))
	copy(grown, all)
	return grown
}

// room says how far arrays grow: share is the part of the file read so far, 0 if unknown; tight, that there is no
// memory for a forecast.
type room struct {
	share float64
	tight bool
}

// forecast is how many elements an array gets that needs so many now.
func (r room) forecast(needed int) int {
	switch {
	case r.share == 1:
		return needed
	case r.tight:
		return needed + needed/8
	case r.share > 0:
		return int(1.1*float64(needed)/max(r.share, smallestShare)) + 64
	}
	return 2 * needed
}

const smallestShare = 1.0 / (1 << 14) // less tells too little of the whole file

// roomFor decides how far the arrays grow when a piece is appended; an error where there is no memory even for the
// piece.
func (r *reading) roomFor(p *piece, share float64) (room, error) {
	wide := room{share: share}
	if need(r.growth(p, wide), "", "") == nil {
		return wide, nil
	}
	tight := room{share: share, tight: true}
	return tight, need(r.growth(p, tight), "reading "+r.text.path, readInParts)
}

const readInParts = "read the file in parts, or on a machine with more memory"

// need is replaced in tests.
var need = memory.Need

// growth is how many bytes the arrays ask for when a piece is appended.
func (r *reading) growth(p *piece, by room) float64 {
	d, total := &r.all, 0.0
	for _, array := range []struct{ length, capacity, more, size int }{
		{len(d.Values), cap(d.Values), len(p.values), 8},
		{len(d.Indices), cap(d.Indices), len(p.indices), 4},
		{len(d.Labels), cap(d.Labels), len(p.labels), 8},
		{len(d.Indptr), cap(d.Indptr), len(p.ends), 8},
		{len(d.LabelIndptr), cap(d.LabelIndptr), len(p.labelEnds), 8},
	} {
		if needed := array.length + array.more; needed > array.capacity {
			total += float64(array.size) * float64(by.forecast(needed))
		}
	}
	return total
}
