//go:build !amd64

package rows

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
)

type (
	denseClassLoop  func(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)
	denseClassLoops struct{}
)

var denseClassAxpys denseClassLoops

// There is no loop: those in Go are used.
func (*denseClassLoops) choose(int) denseClassLoop { return nil }
func widenLoop(n int, from, to unsafe.Pointer)     { panic("rows: no loop for this processor") }
func dotPanels(rows *[2 * rowsAtOnce]unsafe.Pointer, first, n int, p, sums, next []float64, shape panel.Shape) {
	panic("rows: no loop for this processor")
}
func dotRounded(int, int, int, *[rowsAtOnce]unsafe.Pointer, unsafe.Pointer, *[rowsAtOnce * roundedWidth]float32) {
	panic("rows: no loop for this processor")
}
func axpyRounded(int, int, int, *[rowsAtOnce]unsafe.Pointer, unsafe.Pointer, *[rowsAtOnce * roundedWidth]float32) {
	panic("rows: no loop for this processor")
}
func denseDot32(n int, x, y, numbers unsafe.Pointer)  { panic("rows: no loop for this processor") }
func denseDot64(n int, x, y, numbers unsafe.Pointer)  { panic("rows: no loop for this processor") }
func denseAxpy32(n int, x, y, numbers unsafe.Pointer) { panic("rows: no loop for this processor") }
func denseAxpy64(n int, x, y, numbers unsafe.Pointer) { panic("rows: no loop for this processor") }
