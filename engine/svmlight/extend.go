package svmlight

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/memory"
)

// growing is an array that a piece is appended to.
type growing interface {
	bytes(by room) float64 // that are asked for
	extend(by room)
}

type addition[T any] struct {
	all  *[]T
	more []T
}

func (a addition[T]) bytes(by room) float64 {
	var one T
	if needed := len(*a.all) + len(a.more); needed > cap(*a.all) {
		return float64(unsafe.Sizeof(one)) * float64(by.forecast(needed))
	}
	return 0
}

func (a addition[T]) extend(by room) { *a.all = extend(*a.all, a.more, by) }

// extend appends more to all. When memory is short it asks for what the whole file will need if it goes on as it
// began, see room. An array is then moved once or twice early on and not doubled near the end, where old and new
// together would cost most. What is asked for but never filled costs address space only.
func extend[T any](all, more []T, by room) []T {
	if needed := len(all) + len(more); needed > cap(all) {
		all = append(make([]T, 0, by.forecast(needed)), all...)
	}
	return append(all, more...)
}

// room is how far arrays grow: share is the part of the file read so far, 0 if unknown; tight, that there is no memory
// for a forecast.
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

const smallestShare = 1.0 / (1 << 14) // less is too little for a forecast

// roomFor decides how far the arrays grow; an error where there is no memory even for the piece.
func roomFor(arrays []growing, share float64, path string) (room, error) {
	growth := func(by room) (total float64) {
		for _, array := range arrays {
			total += array.bytes(by)
		}
		return total
	}
	if wide := (room{share: share}); need(growth(wide), "", "") == nil {
		return wide, nil
	}
	tight := room{share: share, tight: true}
	return tight, need(growth(tight), "reading "+path, readInParts)
}

const readInParts = "read the file in parts, or on a machine with more memory"

// need is replaced in tests.
var need = memory.Need
