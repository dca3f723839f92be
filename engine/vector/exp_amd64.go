package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func expBlocks(blocks int, x, constants unsafe.Pointer)

const expBlock = 4 // entries at least that the loop of the processor takes

// expConstants are those of exp, four times each: log2Of, ln2High, ln2Low, leastExponent, 2^52 + 2^51, taylor.
var expConstants = func() (all [4 * (5 + len(taylor))]float64) {
	for k, v := range append([]float64{log2Of, ln2High, ln2Low, leastExponent, 3 << 51}, taylor[:]...) {
		for lane := range 4 {
			all[4*k+lane] = v
		}
	}
	return all
}()

// expLoop does the first entries and returns how many.
func expLoop(x []float64) (done int) {
	if len(x) < expBlock || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return 0
	}
	expBlocks(len(x)/expBlock, unsafe.Pointer(&x[0]), unsafe.Pointer(&expConstants))
	return len(x) &^ (expBlock - 1)
}
