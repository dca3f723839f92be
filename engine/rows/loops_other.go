//go:build !amd64

package rows

import "unsafe"

// There are no loops: those in Go are used.
var (
	useLoops            bool
	dotLoops, axpyLoops classLoops

	denseDot32, denseDot64 func(n int, x, p, sums unsafe.Pointer)

	denseAxpy32, denseAxpy64 func(n int, x, dst unsafe.Pointer, scale float64)

	dotRows64, axpyRows64 func(n, step int, rows *places, panel, numbers unsafe.Pointer)

	dotRounded, axpyRounded [3]func(n, ahead int, rows *places, panel *float32, numbers *roundedSums)
)

type (
	classLoop  func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
	classLoops struct{}
)

func (classLoops) choose(_, _ uintptr, inGo classLoop) classLoop { return inGo }
