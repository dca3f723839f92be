package csr

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The loops of wide.go with AVX2, four numbers at a time: for bits of an index (16, 32) and of a value (64, 32). They
// are two to four times faster; engine/csr's benchmark Wide tells.

//go:noescape
func dotWide16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func dotWide16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func dotWide32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func dotWide32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyWide16x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyWide16x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyWide32x64(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

//go:noescape
func axpyWide32x32(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

// wideLoop multiplies the n entries of one row with 4 times fours classes of a panel, in which a feature takes stride
// bytes: for dot the sums go to classes, for axpy classes are the scales; there is room for panelWidth.
type wideLoop func(n int, indices, values, panel, classes unsafe.Pointer, fours, stride int)

// wideLoops [16 or 32 bits of an index][64 or 32 bits of a value].
type wideLoops [2][2]wideLoop

var (
	dotLoops  = wideLoops{{dotWide16x64, dotWide16x32}, {dotWide32x64, dotWide32x32}}
	axpyLoops = wideLoops{{axpyWide16x64, axpyWide16x32}, {axpyWide32x64, axpyWide32x32}}
	useLoops  = cpu.X86.HasAVX2 && cpu.X86.HasFMA
)

// choose gives the loop for these arrays, or nil where there is none.
func (l *wideLoops) choose(indexSize, valueSize uintptr) wideLoop {
	if !useLoops || indexSize > 4 {
		return nil
	}
	return l[indexSize/4][1-valueSize/8]
}
