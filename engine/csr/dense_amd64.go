package csr

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The loops of dense.go and dense_wide.go with AVX2, those for eight and more classes with AVX-512 besides.
// Multiplication and addition are separate, but for dotRows, where the loop in Go fuses them as well: so all give the
// same bits.

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
func dotRows4(n int, rows *[2 * rowsAtOnce]unsafe.Pointer, panel, sums, next unsafe.Pointer)

//go:noescape
func dotRows8(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, sums unsafe.Pointer)

//go:noescape
func dotRows8Widest(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, sums unsafe.Pointer)

//go:noescape
func dotRows16(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, next, sums unsafe.Pointer)

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

// denseWideLoop adds four rows to a panel, with scales [4, width].
type denseWideLoop func(n int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

// denseWideLoops [4 classes, 8 classes, 8 classes with AVX-512].
type denseWideLoops [3]denseWideLoop

var (
	denseDots      = denseLoops{denseDot64, denseDot32}
	denseAxpys     = denseLoops{denseAxpy64, denseAxpy32}
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

// dotPanels adds to the sums the products of eight rows with the panels, features first ... first+n-1; sums and next
// are those of four rows each.
func dotPanels(rows *[2 * rowsAtOnce]unsafe.Pointer, first, n int, p, sums, next []float64, shape Wide) {
	low, high := (*[rowsAtOnce]unsafe.Pointer)(rows[:rowsAtOnce]), (*[rowsAtOnce]unsafe.Pointer)(rows[rowsAtOnce:])
	for b, at := 0, 0; b < shape.Panels(); b++ {
		start, width := shape.Panel(b)
		panel, to, nextTo := unsafe.Pointer(&p[start+first*width]), unsafe.Pointer(&sums[at]), unsafe.Pointer(&next[at])
		at += rowsAtOnce * width
		switch {
		case width < panelWidth:
			dotRows4(n, rows, panel, to, nextTo)
		case !useWidest:
			dotRows8(n, low, panel, to)
			dotRows8(n, high, panel, nextTo)
		case shape.Stride() >= (b+2)*panelWidth: // another panel of eight
			second := unsafe.Add(panel, 8*panelWidth*shape.Features)
			dotRows16(n, low, panel, second, to)
			dotRows16(n, high, panel, second, nextTo)
			at += rowsAtOnce * panelWidth
			b++
		default:
			dotRows8Widest(n, low, panel, to)
			dotRows8Widest(n, high, panel, nextTo)
		}
	}
}
