package rows

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// dense are rows with a value for every feature, a stride apart, or those of a list. (The loops of gonum take two
// vectors of one type; here the rows are float32 or float64 and the weights float64.)
type dense[V value] struct {
	values       []V
	n, d, stride int
	list         []int32 // numbers of the rows; nil: 0, 1, ...
}

// NewDense views n rows of d features, which begin a stride of values apart and are there; all have to be finite.
func NewDense[V value](n, d, stride int, values []V) (*Matrix, error) {
	if err := cmp.Or(checkShape(d, n), needForRows(n, 0)); err != nil {
		return nil, err
	}
	a := &dense[V]{values: values, n: n, d: d, stride: stride}
	for i := range n {
		if err := checkFinite(i, a.row(i), func(k int) int { return k }); err != nil {
			return nil, err
		}
	}
	indptr := make([]int64, n+1)
	for i := range indptr {
		indptr[i] = int64(i) * int64(d)
	}
	return newMatrix(d, a, indptr), nil
}

func (a *dense[V]) part(first, end int) kernel {
	if a.list != nil {
		return &dense[V]{a.values, end - first, a.d, a.stride, a.list[first:end]}
	}
	return &dense[V]{a.values[first*a.stride:], end - first, a.d, a.stride, nil}
}

func (a *dense[V]) row(i int) []V {
	if a.list != nil {
		i = int(a.list[i])
	}
	return a.values[i*a.stride : i*a.stride+a.d]
}

// checked: NewDense has checked the values.
func (a *dense[V]) checked(m *Matrix) (*Matrix, error) { return m, nil }

func (a *dense[V]) indexBytes() int { return 0 }

// counts: all features are alike, so that they keep their order.
func (a *dense[V]) counts(cols int) []float64 { return slices.Repeat([]float64{1}, cols) }

func (a *dense[V]) renumbered(*work.Pool, []int32, int) kernel { return a }

func (a *dense[V]) visit(i int, visit func(col int, value float64)) {
	for j, v := range a.row(i) {
		visit(j, float64(v))
	}
}

func (a *dense[V]) squares(i int, scale float64) float64 { return squares(a.row(i), scale) }

func (a *dense[V]) rowTimes(i int, p []float64) float64 { return denseDot(a.row(i), p) }

func (a *dense[V]) times(rows []int32, dst, p []float64, scale float64) {
	for _, i := range rows {
		dst[i] = scale * denseDot(a.row(int(i)), p)
	}
}

func (a *dense[V]) addTransposed(rows []int32, dst, q []float64, scale float64) {
	for _, i := range rows {
		if q[i] != 0 {
			denseAxpy(a.row(int(i)), scale*q[i], dst)
		}
	}
}

// denseDot is Σ x_j p_j in sixteen sums.
func denseDot[V value](x []V, p []float64) float64 {
	p = p[:len(x)]
	n := len(x) &^ 15
	var s [4]float64
	switch {
	case useLoops && n > 0 && unsafe.Sizeof(V(0)) == 4: // by name: a variable's arguments would be on the heap
		denseDot32(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&p[0]), unsafe.Pointer(&s))
	case useLoops && n > 0:
		denseDot64(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&p[0]), unsafe.Pointer(&s))
	default:
		var t [16]float64
		for k := 0; k < n; k += 16 {
			a, b := x[k:k+16], p[k:k+16]
			for l := range t {
				t[l] += float64(a[l]) * b[l]
			}
		}
		for l := range s {
			s[l] = (t[l] + t[4+l]) + (t[8+l] + t[12+l])
		}
	}
	total := (s[0] + s[1]) + (s[2] + s[3])
	for k := n; k < len(x); k++ {
		total += float64(x[k]) * p[k]
	}
	return total
}

// denseAxpy adds scale * x_j to dst_j.
func denseAxpy[V value](x []V, scale float64, dst []float64) {
	dst = dst[:len(x)]
	n := 0
	if useLoops {
		n = len(x) &^ 7
	}
	switch {
	case n > 0 && unsafe.Sizeof(V(0)) == 4:
		denseAxpy32(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&dst[0]), scale)
	case n > 0:
		denseAxpy64(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&dst[0]), scale)
	}
	for k := n; k < len(x); k++ {
		dst[k] += scale * float64(x[k])
	}
}

// Eight dense rows are multiplied with as many columns as a register holds, so that a feature's weights are loaded once
// for them. The loops for four columns take float64: rows of float32 are widened once for all columns.

const (
	rowsAtOnce = 8
	inRegister = 4 // columns
)

// onPart multiplies some rows with a part of the columns. For the loops there are places of the rows: the last one
// stands for those that are missing.
type onPart func(some []int32, places *places, part panel.Panel)

type places [rowsAtOnce]unsafe.Pointer

// eachPart calls multiply for up to atOnce rows at a time with each part of some panels, of so many columns.
func (a *dense[V]) eachPart(rows []int32, atOnce int, panels []panel.Panel, columns int, widen bool, multiply onPart) {
	places, copies := new(places), []float64(nil)
	if widen && unsafe.Sizeof(V(0)) == 4 {
		copies = make([]float64, atOnce*a.d)
	}
	for some := range slices.Chunk(rows, atOnce) {
		for k, i := range some {
			row := a.row(int(i))
			places[k] = unsafe.Pointer(unsafe.SliceData(row))
			if copies != nil {
				wide := copies[k*a.d : (k+1)*a.d]
				clear(wide)
				denseAxpy(row, 1, wide)
				places[k] = unsafe.Pointer(unsafe.SliceData(wide))
			}
		}
		for k := len(some); k < atOnce; k++ {
			places[k] = places[k-1]
		}
		for _, of := range panels {
			for lo := 0; lo < of.Width; lo += columns {
				multiply(some, places, of.Part(lo, min(of.Width, lo+columns)))
			}
		}
	}
}

func (a *dense[V]) timesPanels(rows []int32, dst, p []float64, stride int, panels []panel.Panel) {
	a.eachPart(rows, rowsAtOnce, panels, inRegister, useLoops, func(some []int32, places *places, part panel.Panel) {
		var sums [rowsAtOnce][inRegister]float64
		if useLoops {
			dotRows64(a.d, 8*part.Stride, places, unsafe.Pointer(&p[part.Start]), unsafe.Pointer(&sums))
		}
		for k, i := range some {
			if !useLoops {
				a.dotPart(int(i), p[part.Start:], part.Stride, &sums[k])
			}
			copy(dst[int(i)*stride+part.First:], sums[k][:])
		}
	})
}

// addPanels adds to all panels.
func (a *dense[V]) addPanels(rows []int32, dst, q []float64, scale float64, shape panel.Shape, _ panel.Panel) {
	stride := shape.Stride()
	rows = slices.DeleteFunc(slices.Clone(rows), func(i int32) bool {
		return !slices.ContainsFunc(q[int(i)*stride:(int(i)+1)*stride], notZero)
	})
	panels := shape.Pieces(1)
	a.eachPart(rows, rowsAtOnce, panels, inRegister, useLoops, func(some []int32, places *places, part panel.Panel) {
		var scales [rowsAtOnce][inRegister]float64
		for k, i := range some {
			floats.ScaleTo(scales[k][:], scale, q[int(i)*stride+part.First:][:inRegister])
			if !useLoops {
				a.axpyPart(int(i), dst[part.Start:], part.Stride, &scales[k])
			}
		}
		if useLoops {
			axpyRows64(a.d, 8*part.Stride, places, unsafe.Pointer(&dst[part.Start]), unsafe.Pointer(&scales))
		}
	})
}

// dotPart and axpyPart are dotRows64 and axpyRows64 of one row for all processors.

func (a *dense[V]) dotPart(i int, weights []float64, stride int, sums *[inRegister]float64) {
	for j, v := range a.row(i) {
		for c, w := range weights[j*stride:][:inRegister] {
			sums[c] = math.FMA(float64(v), w, sums[c])
		}
	}
}

func (a *dense[V]) axpyPart(i int, weights []float64, stride int, scales *[inRegister]float64) {
	for j, v := range a.row(i) {
		w := weights[j*stride:][:inRegister]
		for c, s := range scales {
			w[c] += float64(v) * s
		}
	}
}
