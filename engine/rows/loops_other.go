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

	axpyRows, dotRounded, axpyRounded [3]func(n, step int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

	dotPanels func(rows *[2 * rowsAtOnce]unsafe.Pointer, first, n int, p, sums, next []float64, panels []panel.Panel)
)

type (
	classLoop  func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
	classLoops struct{}
)

func (classLoops) choose(_, _ uintptr, inGo classLoop) classLoop { return inGo }
