package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func expBlocks(blocks int, x, constants unsafe.Pointer)

//go:noescape
func addBlocks(blocks int, dst, src unsafe.Pointer, scale float64)

//go:noescape
func scaleBlocks(blocks int, dst unsafe.Pointer, factor float64)

//go:noescape
func maxBlocks(blocks int, src unsafe.Pointer) float64

const block = 4 // entries at least that the loops of the processor take

var hasLoops = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// expConstants are those of exp, four times each: log2Of, ln2High, ln2Low, leastExponent, 2^52 + 2^51, taylor.
var expConstants = func() (all [4 * (5 + len(taylor))]float64) {
	for k, v := range append([]float64{log2Of, ln2High, ln2Low, leastExponent, 3 << 51}, taylor[:]...) {
		for lane := range 4 {
			all[4*k+lane] = v
		}
	}
	return all
}()

// blocks is the number of blocks that the loops of the processor do.
func blocks(x []float64) int {
	if !hasLoops {
		return 0
	}
	return len(x) / block
}

// The loops do the first entries and return how many.

func expLoop(x []float64) (done int) {
	n := blocks(x)
	if n > 0 {
		expBlocks(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&expConstants))
	}
	return n * block
}

func addLoop(dst []float64, scale float64, src []float64) (done int) {
	n := blocks(dst)
	if n > 0 {
		addBlocks(n, unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), scale)
	}
	return n * block
}

func scaleLoop(a []float64, factor float64) (done int) {
	n := blocks(a)
	if n > 0 {
		scaleBlocks(n, unsafe.Pointer(&a[0]), factor)
	}
	return n * block
}

func maxLoop(a []float64) (largest float64, done int) {
	n := blocks(a)
	if n == 0 {
		return a[0], 0
	}
	return maxBlocks(n, unsafe.Pointer(&a[0])), n * block
}
