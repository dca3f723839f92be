package rows

import (
	"cmp"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/work"
)

// dense are rows with a value for every feature, row after row, a stride apart. (The loops of gonum take two vectors of
// one type; here the rows are float32 or float64 and the weights float64.)
type dense[V value] struct {
	values       []V
	n, d, stride int
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

func (a *dense[V]) isDense() bool { return true }

func (a *dense[V]) part(first, end int) kernel {
	return &dense[V]{values: a.values[first*a.stride:], n: end - first, d: a.d, stride: a.stride}
}

func (a *dense[V]) row(i int) []V { return a.values[i*a.stride : i*a.stride+a.d] }

// packed keeps the features as they are.
func (a *dense[V]) packed(_ *work.Job, cols int) (k kernel, old []int32) {
	old = make([]int32, cols)
	for j := range old {
		old[j] = int32(j)
	}
	return a, old
}

func (a *dense[V]) visit(i int, visit func(col int, value float64)) {
	for j, v := range a.row(i) {
		visit(j, float64(v))
	}
}

func (a *dense[V]) rowTimes(i int, p []float64) float64 { return denseDot(a.row(i), p) }

func (a *dense[V]) addRow(i int, scale float64, dst []float64) { denseAxpy(a.row(i), scale, dst) }

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
		denseAxpy32(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&dst[0]), unsafe.Pointer(&scale))
	case n > 0:
		denseAxpy64(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&dst[0]), unsafe.Pointer(&scale))
	}
	for k := n; k < len(x); k++ {
		dst[k] += scale * float64(x[k])
	}
}
