//go:build !amd64

package rows

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
)

// There are no loops: those in Go are used.
var (
	useLoops            bool
	dotLoops, axpyLoops classLoops

	denseDot32, denseDot64, denseAxpy32, denseAxpy64 func(n int, x, y, numbers unsafe.Pointer)

	axpyPart    func(n int, part panel.Panel, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)
	dotPanels   func(rows *[2 * rowsAtOnce]unsafe.Pointer, first, n int, p, sums, next []float64, shape panel.Shape)
	dotRounded  func(width, n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, weights unsafe.Pointer, sums *roundedSums)
	axpyRounded = dotRounded
)

type (
	classLoop  func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
	classLoops struct{}
)

func (classLoops) choose(uintptr, uintptr) classLoop { return nil }
