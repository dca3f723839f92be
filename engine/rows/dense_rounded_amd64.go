package rows

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// roundedWidth is how many columns go through the rows at a time: two registers of AVX-512 or three of AVX2. Sums have
// the same bits; a fit of 20 classes takes .9 of the time.
var roundedWidth = func() int {
	if cpu.X86.HasAVX512F {
		return mostRounded
	}
	return 3 * lane
}()

//go:noescape
func dotRounded8(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

//go:noescape
func axpyRounded8(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

//go:noescape
func dotRounded16(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

//go:noescape
func axpyRounded16(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

//go:noescape
func dotRounded24(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

//go:noescape
func axpyRounded24(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

//go:noescape
func dotRounded32(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

//go:noescape
func axpyRounded32(n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, panel, numbers unsafe.Pointer)

// dotRounded sets sums [4, width] to the products of four rows with weights [n, width]; what lies ahead
// bytes behind a row will be read next.
func dotRounded(
	width, n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, weights unsafe.Pointer,
	sums *[rowsAtOnce * mostRounded]float32,
) {
	switch width {
	case lane:
		dotRounded8(n, ahead, rows, weights, unsafe.Pointer(sums))
	case 2 * lane:
		dotRounded16(n, ahead, rows, weights, unsafe.Pointer(sums))
	case 3 * lane:
		dotRounded24(n, ahead, rows, weights, unsafe.Pointer(sums))
	default:
		dotRounded32(n, ahead, rows, weights, unsafe.Pointer(sums))
	}
}

// axpyRounded adds four rows times scales [4, width] to weights [n, width]; what lies ahead bytes behind a row
// will be read next.
func axpyRounded(
	width, n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, weights unsafe.Pointer,
	scales *[rowsAtOnce * mostRounded]float32,
) {
	switch width {
	case lane:
		axpyRounded8(n, ahead, rows, weights, unsafe.Pointer(scales))
	case 2 * lane:
		axpyRounded16(n, ahead, rows, weights, unsafe.Pointer(scales))
	case 3 * lane:
		axpyRounded24(n, ahead, rows, weights, unsafe.Pointer(scales))
	default:
		axpyRounded32(n, ahead, rows, weights, unsafe.Pointer(scales))
	}
}
