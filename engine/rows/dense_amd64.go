package rows

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
)

// The loops of dense.go and dense_panels.go with AVX2. Multiplication and addition are separate, but for dotRows, where
// the loop in Go fuses them as well: so all give the same bits. AVX-512 took 2 to 5 % off fits of 8 and 20 classes.
// With the loops in Go a whole fit of sentence embeddings (18,846 rows of 384) takes 7.6 times the processor time with
// 20 classes, 1.9 with two.

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
func dotRows4(n, stride int, rows *[2 * rowsAtOnce]unsafe.Pointer, panel, sums, next unsafe.Pointer)

//go:noescape
func dotRows8(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, sums unsafe.Pointer)

//go:noescape
func axpyRows4(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)

//go:noescape
func axpyRows8(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)

// denseClassLoop adds four rows to a part of a panel, with scales [4, width of the part].
type denseClassLoop func(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

// denseClassLoops [4 classes, 8 classes].
type denseClassLoops [2]denseClassLoop

var denseClassAxpys = denseClassLoops{axpyRows4, axpyRows8}

// choose gives the loop for the width of a part.
func (l *denseClassLoops) choose(width int) denseClassLoop { return l[width/8] }

// dotPanels adds to the sums the products of eight rows with the panels, features first ... first+n-1; sums and next
// are those of four rows each.
func dotPanels(rows *[2 * rowsAtOnce]unsafe.Pointer, first, n int, p, sums, next []float64, shape panel.Shape) {
	low, high := (*[rowsAtOnce]unsafe.Pointer)(rows[:rowsAtOnce]), (*[rowsAtOnce]unsafe.Pointer)(rows[rowsAtOnce:])
	at := 0
	shape.EachPart(func(part panel.Panel) {
		weights, bytes := unsafe.Pointer(&p[part.Start+first*part.Stride]), 8*part.Stride
		to, nextTo := unsafe.Pointer(&sums[at]), unsafe.Pointer(&next[at])
		at += rowsAtOnce * part.Width
		if part.Width < panel.PartWidth {
			dotRows4(n, bytes, rows, weights, to, nextTo)
		} else {
			dotRows8(n, bytes, low, weights, to)
			dotRows8(n, bytes, high, weights, nextTo)
		}
	})
}
