//go:build !amd64

package csr

import "unsafe"

type (
	wideLoop  func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)
	wideLoops struct{}
)

var (
	dotLoops, axpyLoops wideLoops
	useLoops            bool
)

// choose gives no loop: those in Go are used.
func (*wideLoops) choose(uintptr, uintptr) wideLoop { return nil }
