package rows

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/fewlabel/fewlabel/engine/panel"
)

// The inner loops with AVX2. Multiplication and addition are separate, but for dotRows, where the loop in Go fuses them
// as well, and rounded products, which Go has not: so all give the same bits. With the loops in Go a fit takes 1.45 to
// 1.8 times the time on 20 Newsgroups (5 and 20 classes), 1.9 to 7.6 on sentence embeddings. AVX-512 took 2 to 5 % off.

// useLoops is whether this processor has what they need.
var useLoops = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// classLoop multiplies the n entries of one row with 4 times fours classes of a panel, in which a feature takes stride
// bytes: for dot the sums go to classes, for axpy classes are the scales; there is room for panel.Width.
type classLoop func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func dotClasses16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func dotClasses16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func dotClasses32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func dotClasses32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func axpyClasses16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func axpyClasses16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func axpyClasses32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

func axpyClasses32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

// classLoops [16 or 32 bits of an index][64 or 32 bits of a value].
type classLoops [2][2]classLoop

var (
	dotLoops  = classLoops{{dotClasses16x64, dotClasses16x32}, {dotClasses32x64, dotClasses32x32}}
	axpyLoops = classLoops{{axpyClasses16x64, axpyClasses16x32}, {axpyClasses32x64, axpyClasses32x32}}
)

// choose gives the loop for these arrays, or that of Go where there is none.
func (l *classLoops) choose(indexSize, valueSize uintptr, inGo classLoop) classLoop {
	if !useLoops || indexSize > 4 {
		return inGo
	}
	return l[indexSize/4][1-valueSize/8]
}

//go:noescape
func denseDot64(n int, x, p, sums unsafe.Pointer)

//go:noescape
func denseDot32(n int, x, p, sums unsafe.Pointer)

//go:noescape
func denseAxpy64(n int, x, dst, scale unsafe.Pointer)

//go:noescape
func denseAxpy32(n int, x, dst, scale unsafe.Pointer)

//go:noescape
func dotRows4(n, stride int, rows *[2 * rowsAtOnce]unsafe.Pointer, panel, sums, next unsafe.Pointer)

//go:noescape
func dotRows8(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, sums unsafe.Pointer)

// rowsLoop multiplies four rows of n features with some columns of a panel: for dot sums [4, columns] go to numbers,
// for axpy these are the scales. step is a feature's room in the panel, or of rounded products what will be read next.
type rowsLoop func(n, step int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

// Loops for 4 and 8 columns, and for one to three registers of rounded ones.
var (
	axpyRows    = [...]rowsLoop{axpyRows4, axpyRows8}
	dotRounded  = [...]rowsLoop{dotRounded8, dotRounded16, dotRounded24}
	axpyRounded = [...]rowsLoop{axpyRounded8, axpyRounded16, axpyRounded24}
)

func axpyRows4(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)

func axpyRows8(n, stride int, rows *[rowsAtOnce]unsafe.Pointer, panel, scales unsafe.Pointer)

// dotPanels adds the products of eight rows with features first ... first+n-1; sums and next are of four rows each.
func dotPanels(rows *[2 * rowsAtOnce]unsafe.Pointer, first, n int, p, sums, next []float64, panels []panel.Panel) {
	low, high := (*[rowsAtOnce]unsafe.Pointer)(rows[:rowsAtOnce]), (*[rowsAtOnce]unsafe.Pointer)(rows[rowsAtOnce:])
	at := 0
	panel.EachPart(panels, func(part panel.Panel) {
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

func dotRounded8(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

func axpyRounded8(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

func dotRounded16(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

func axpyRounded16(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

func dotRounded24(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

func axpyRounded24(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)
