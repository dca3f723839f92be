package csr

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The loops of wide.go with AVX2, four numbers at a time: for bits of an index (16, 32) and of a value (64, 32). They
// are two to four times faster; engine/csr's benchmark Wide tells.

//go:noescape
func dot8x16x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func dot8x16x32(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func dot8x32x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func dot8x32x32(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func dot4x16x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func dot4x16x32(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func dot4x32x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func dot4x32x32(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy8x16x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy8x16x32(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy8x32x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy8x32x32(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy4x16x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy4x16x32(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy4x32x64(n int, indices, values, panel, classes unsafe.Pointer)

//go:noescape
func axpy4x32x32(n int, indices, values, panel, classes unsafe.Pointer)

// wideLoop multiplies the entries of one row with a panel: for dot the sums go to classes, for axpy classes are the
// scales.
type wideLoop func(n int, indices, values, panel, classes unsafe.Pointer)

// wideLoops [4 or 8 classes][16 or 32 bits of an index][64 or 32 bits of a value].
type wideLoops [2][2][2]wideLoop

var (
	dotLoops = wideLoops{
		{{dot4x16x64, dot4x16x32}, {dot4x32x64, dot4x32x32}},
		{{dot8x16x64, dot8x16x32}, {dot8x32x64, dot8x32x32}},
	}
	axpyLoops = wideLoops{
		{{axpy4x16x64, axpy4x16x32}, {axpy4x32x64, axpy4x32x32}},
		{{axpy8x16x64, axpy8x16x32}, {axpy8x32x64, axpy8x32x32}},
	}
	useLoops = cpu.X86.HasAVX2 && cpu.X86.HasFMA
)

// choose gives the loop for a panel, or nil where there is none.
func (l *wideLoops) choose(width int, indexSize, valueSize uintptr) wideLoop {
	if !useLoops || indexSize > 4 {
		return nil
	}
	return l[width/8][indexSize/4][1-valueSize/8]
}
