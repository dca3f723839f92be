package csr

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The loops of dense.go and dense_wide.go with AVX2, those for eight classes with AVX-512 besides. Multiplication and
// addition are separate, so that all give the same bits.

//go:noescape
func denseDot64(n int, x, p, sums unsafe.Pointer)

//go:noescape
func denseDot32(n int, x, p, sums unsafe.Pointer)

//go:noescape
func denseAxpy64(n int, x, dst, scale unsafe.Pointer)

//go:noescape
func denseAxpy32(n int, x, dst, scale unsafe.Pointer)

//go:noescape
func widenLoop(n int, from, to unsafe.Pointer)

//go:noescape
func dotRows4(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, sums unsafe.Pointer)

//go:noescape
func dotRows8(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, sums unsafe.Pointer)

//go:noescape
func dotRows8Widest(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, sums unsafe.Pointer)

//go:noescape
func axpyRows4(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)

//go:noescape
func axpyRows8(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)

//go:noescape
func axpyRows8Widest(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)

// denseLoop multiplies n numbers of a row, 16 at a time for dot and 8 for axpy.
type denseLoop func(n int, x, y, numbers unsafe.Pointer)

// denseLoops [64 or 32 bits of a value].
type denseLoops [2]denseLoop

// denseWideLoop multiplies four rows with a panel: for dot the sums [4, width] are set, for axpy scales are such.
type denseWideLoop func(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

// denseWideLoops [4 classes, 8 classes, 8 classes with AVX-512].
type denseWideLoops [3]denseWideLoop

var (
	denseDots      = denseLoops{denseDot64, denseDot32}
	denseAxpys     = denseLoops{denseAxpy64, denseAxpy32}
	denseWideDots  = denseWideLoops{dotRows4, dotRows8, dotRows8Widest}
	denseWideAxpys = denseWideLoops{axpyRows4, axpyRows8, axpyRows8Widest}
	useWidest      = cpu.X86.HasAVX512F
)

// choose gives the loop for a size of a value, or nil where there is none.
func (l *denseLoops) choose(valueSize uintptr) denseLoop {
	if !useLoops {
		return nil
	}
	return l[1-valueSize/8]
}

// choose gives the loop for the width of a panel.
func (l *denseWideLoops) choose(width int) denseWideLoop {
	if width == panelWidth && useWidest {
		return l[2]
	}
	return l[width/8]
}
