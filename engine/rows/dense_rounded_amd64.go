package rows

import "unsafe"

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

// dotRounded sets sums [4, width] to the products of four rows with weights [n, width]; what lies ahead
// bytes behind a row will be read next.
func dotRounded(
	width, n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, weights unsafe.Pointer,
	sums *[rowsAtOnce * roundedWidth]float32,
) {
	switch width {
	case lane:
		dotRounded8(n, ahead, rows, weights, unsafe.Pointer(sums))
	case 2 * lane:
		dotRounded16(n, ahead, rows, weights, unsafe.Pointer(sums))
	default:
		dotRounded24(n, ahead, rows, weights, unsafe.Pointer(sums))
	}
}

// axpyRounded adds four rows times scales [4, width] to weights [n, width]; what lies ahead bytes behind a row
// will be read next.
func axpyRounded(
	width, n, ahead int, rows *[rowsAtOnce]unsafe.Pointer, weights unsafe.Pointer,
	scales *[rowsAtOnce * roundedWidth]float32,
) {
	switch width {
	case lane:
		axpyRounded8(n, ahead, rows, weights, unsafe.Pointer(scales))
	case 2 * lane:
		axpyRounded16(n, ahead, rows, weights, unsafe.Pointer(scales))
	default:
		axpyRounded24(n, ahead, rows, weights, unsafe.Pointer(scales))
	}
}
