package rows

import "unsafe"

// The loops of view.go with AVX2. Multiplication and addition are separate, so that they give the bits of those in Go.

//go:noescape
func decide32x64(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool

//go:noescape
func decide32x32(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool

//go:noescape
func decide64x64(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool

//go:noescape
func decide64x32(n int, indices, values, dst unsafe.Pointer, p *decisionPiece) bool

//go:noescape
func inOrder32x64(
	n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64, dst unsafe.Pointer, step int,
) bool

//go:noescape
func inOrder32x32(
	n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64, dst unsafe.Pointer, step int,
) bool

//go:noescape
func inOrder64x64(
	n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64, dst unsafe.Pointer, step int,
) bool

//go:noescape
func inOrder64x32(
	n int, lengths *int, indices, values, w unsafe.Pointer, features int, shift float64, dst unsafe.Pointer, step int,
) bool

// inOrderLoop is inOrder with a loop of the processor.
func inOrderLoop[I index, V value](
	lengths []int, indices []I, values []V, w []float64, shift float64, dst []float64, outputs int,
) bool {
	loop := inOrder32x64
	switch long, small := unsafe.Sizeof(I(0)) == 8, unsafe.Sizeof(V(0)) == 4; {
	case long && small:
		loop = inOrder64x32
	case long:
		loop = inOrder64x64
	case small:
		loop = inOrder32x32
	}
	return loop(len(lengths), &lengths[0], unsafe.Pointer(unsafe.SliceData(indices)),
		unsafe.Pointer(unsafe.SliceData(values)), unsafe.Pointer(unsafe.SliceData(w)), len(w), shift,
		unsafe.Pointer(&dst[0]), 8*outputs)
}

// widestPiece is the number of outputs whose sums fit the registers.
const widestPiece = 24

// decisionPiece is some of the outputs; view_amd64.s knows where its fields are.
type decisionPiece struct {
	coef, intercept unsafe.Pointer // of the first output
	features        int
	stride          int      // bytes from one feature to the next
	mask            [4]int64 // -1 for those of the last four outputs that there are
	fours           int      // outputs in fours, the last ones filled up
	first           int      // output
}

// inLoops decides a piece of the outputs at a time.
func inLoops[I index, V value](by *Weights, cols int) rowDecider[I, V] {
	pieces := decisionPieces(by, cols)
	return func(indices []I, values []V, dst []float64) bool {
		ip, vp := unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values))
		for k := range pieces {
			p, ok := &pieces[k], false
			to := unsafe.Pointer(&dst[p.first])
			switch long, small := unsafe.Sizeof(I(0)) == 8, unsafe.Sizeof(V(0)) == 4; {
			case long && small:
				ok = decide64x32(len(indices), ip, vp, to, p)
			case long:
				ok = decide64x64(len(indices), ip, vp, to, p)
			case small:
				ok = decide32x32(len(indices), ip, vp, to, p)
			default:
				ok = decide32x64(len(indices), ip, vp, to, p)
			}
			if !ok {
				return false
			}
		}
		return true
	}
}

func decisionPieces(by *Weights, cols int) (pieces []decisionPiece) {
	outputs := len(by.Intercept)
	for first := 0; first < outputs; first += widestPiece {
		end := min(outputs, first+widestPiece)
		p := decisionPiece{
			coef: unsafe.Pointer(&by.Coef[first]), intercept: unsafe.Pointer(&by.Intercept[first]),
			features: cols, stride: 8 * outputs, fours: (end - first + 3) / 4, first: first,
		}
		for k := range p.mask {
			if first+4*(p.fours-1)+k < end {
				p.mask[k] = -1
			}
		}
		pieces = append(pieces, p)
	}
	return pieces
}
