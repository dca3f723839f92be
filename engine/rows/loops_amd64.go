package rows

import (
	"unsafe"

	"golang.org/x/sys/cpu"
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
func denseAxpy64(n int, x, dst unsafe.Pointer, scale float64)

//go:noescape
func denseAxpy32(n int, x, dst unsafe.Pointer, scale float64)

// dotRows64 adds the products of eight rows of n features with four columns of a panel to sums [8, 4]; axpyRows64 adds
// the rows times scales to the panel. step is from a feature to the next in the panel, in bytes.
//
//go:noescape
func dotRows64(n, step int, rows *places, panel, sums unsafe.Pointer)

//go:noescape
func axpyRows64(n, step int, rows *places, panel, scales unsafe.Pointer)

// roundedLoop is the same for four rows and one to three registers of columns, without gaps between the features. ahead
// are bytes to what will be read next.
type roundedLoop func(n, ahead int, rows *places, panel *float32, numbers *roundedSums)

var (
	dotRounded  = [...]roundedLoop{dotRounded8, dotRounded16, dotRounded24}
	axpyRounded = [...]roundedLoop{axpyRounded8, axpyRounded16, axpyRounded24}
)

func dotRounded8(n, ahead int, rows *places, panel *float32, numbers *roundedSums)

func dotRounded16(n, ahead int, rows *places, panel *float32, numbers *roundedSums)

func dotRounded24(n, ahead int, rows *places, panel *float32, numbers *roundedSums)

func axpyRounded8(n, ahead int, rows *places, panel *float32, numbers *roundedSums)

func axpyRounded16(n, ahead int, rows *places, panel *float32, numbers *roundedSums)

func axpyRounded24(n, ahead int, rows *places, panel *float32, numbers *roundedSums)
