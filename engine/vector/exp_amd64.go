package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func expBlocks(blocks int, x, constants unsafe.Pointer)

const expBlock = 16 // entries that the loop of the processor takes at a time

// expConstants are those of exp, four times each: log2Of, ln2High, ln2Low, leastExponent, 2^52 + 2^51, taylor.
var expConstants = func() (all [4 * (5 + len(taylor))]float64) {
	for k, v := range append([]float64{log2Of, ln2High, ln2Low, leastExponent, 3 << 51}, taylor[:]...) {
		for lane := range 4 {
			all[4*k+lane] = v
		}
	}
	return all
}()

// expLoop reports whether the loop of the processor has done all entries.
func expLoop(x []float64) bool {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return false
	}
	if blocks := len(x) / expBlock; blocks > 0 {
		expBlocks(blocks, unsafe.Pointer(&x[0]), unsafe.Pointer(&expConstants))
	}
	if rest := x[len(x)&^(expBlock-1):]; len(rest) > 0 {
		var block [expBlock]float64
		copy(block[:], rest)
		expBlocks(1, unsafe.Pointer(&block), unsafe.Pointer(&expConstants))
		copy(rest, block[:])
	}
	return true
}
