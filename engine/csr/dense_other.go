//go:build !amd64

package csr

import "unsafe"

type (
	denseLoop      func(n int, x, y, numbers unsafe.Pointer)
	denseLoops     struct{}
	denseWideLoop  func(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)
	denseWideLoops struct{}
)

var (
	denseDots, denseAxpys denseLoops
	denseWideAxpys        denseWideLoops
)

// There is no loop: those in Go are used.
func (*denseLoops) choose(uintptr) denseLoop     { return nil }
func (*denseWideLoops) choose(int) denseWideLoop { return nil }
func widenLoop(n int, from, to unsafe.Pointer)   { panic("csr: no loop for this processor") }
func dotPanels(rows *[2 * rowsAtOnce]unsafe.Pointer, first, n int, p, sums, next []float64, shape Wide) {
	panic("csr: no loop for this processor")
}
