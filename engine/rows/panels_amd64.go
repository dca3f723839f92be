package rows

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The loops of panels.go with AVX2, four numbers at a time: for bits of an index (16, 32) and of a value (64, 32). They
// are two to four times faster than those in Go (BenchmarkPanels), with which a whole fit of 20 Newsgroups takes 1.8
// times the processor time with 20 classes, 1.45 with 5.

//go:noescape
func dotClasses16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func dotClasses16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func dotClasses32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func dotClasses32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyClasses16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyClasses16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyClasses32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyClasses32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

// classLoop multiplies the n entries of one row with 4 times fours classes of a panel, in which a feature takes stride
// bytes: for dot the sums go to classes, for axpy classes are the scales; there is room for panel.Width.
type classLoop func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

// classLoops [16 or 32 bits of an index][64 or 32 bits of a value].
type classLoops [2][2]classLoop

var (
	dotLoops  = classLoops{{dotClasses16x64, dotClasses16x32}, {dotClasses32x64, dotClasses32x32}}
	axpyLoops = classLoops{{axpyClasses16x64, axpyClasses16x32}, {axpyClasses32x64, axpyClasses32x32}}
	useLoops  = cpu.X86.HasAVX2 && cpu.X86.HasFMA
)

// choose gives the loop for these arrays, or nil where there is none.
func (l *classLoops) choose(indexSize, valueSize uintptr) classLoop {
	if !useLoops || indexSize > 4 {
		return nil
	}
	return l[indexSize/4][1-valueSize/8]
}
