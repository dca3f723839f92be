//go:build !amd64

package rows

import "unsafe"

type (
	classLoop  func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
	classLoops struct{}
)

var (
	dotLoops, axpyLoops classLoops
	useLoops            bool
)

// choose gives no loop: those in Go are used.
func (*classLoops) choose(uintptr, uintptr) classLoop { return nil }
