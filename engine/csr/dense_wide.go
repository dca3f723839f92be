package csr

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Four dense rows at a time are multiplied with each panel, so that a feature's weights are loaded once for the four.
// Rows of float32 are widened once for all panels: the inner loops take float64.

const rowsAtOnce = 4

// rowKernel adds rows to all panels of weights at once.
type rowKernel interface {
	addRowsWide(rows []int32, dst, q []float64, shape Wide)
}

// addRowsWide lets every block of a subset add to weights of its own and adds these to dst in block order.
func (m *Matrix) addRowsWide(pool *work.Pool, k rowKernel, on *Subset, dst, q []float64, shape Wide) {
	blocks, length := on.Blocks(), shape.Len()
	if need := (blocks - 1) * length; len(m.wideSums) < need {
		m.wideSums = make([]float64, need)
	}
	pool.Run(blocks, func(b int) {
		into := dst
		if b > 0 {
			into = m.wideSums[(b-1)*length : b*length]
			clear(into)
		}
		k.addRowsWide(on.rows[on.blocks[b]:on.blocks[b+1]], into, q, shape)
	})
	pool.Stripes(length, func(lo, hi int) {
		for b := range blocks - 1 {
			vector.Add(dst[lo:hi], 1, m.wideSums[b*length+lo:b*length+hi])
		}
	})
}

func (a *dense[V]) timesWide(rows []int32, dst, p []float64, shape Wide) {
	four, sums := &fourRows[V]{from: a}, new([rowsAtOnce * panelWidth]float64)
	for ; useLoops && len(rows) >= rowsAtOnce; rows = rows[rowsAtOnce:] {
		four.take(rows)
		for b := range shape.Panels() {
			start, width := shape.Panel(b)
			denseWideDots.choose(width)(a.d, &four.place, unsafe.Pointer(&p[start]), unsafe.Pointer(sums))
			for k, i := range rows[:rowsAtOnce] {
				copy(dst[int(i)*shape.Stride()+b*panelWidth:], sums[k*width:(k+1)*width])
			}
		}
	}
	for _, i := range rows {
		out := dst[int(i)*shape.Stride() : (int(i)+1)*shape.Stride()]
		clear(out)
		for b := range shape.Panels() {
			start, width := shape.Panel(b)
			sums := out[b*panelWidth : b*panelWidth+width]
			for j, v := range a.row(int(i)) {
				for c, w := range p[start+j*width : start+(j+1)*width] {
					sums[c] += float64(v) * w
				}
			}
		}
	}
}

func (a *dense[V]) addRowsWide(rows []int32, dst, q []float64, shape Wide) {
	stride := shape.Stride()
	var some []int32
	for _, i := range rows {
		if !allZero(q[int(i)*stride : (int(i)+1)*stride]) {
			some = append(some, i)
		}
	}
	four, scales := &fourRows[V]{from: a}, new([rowsAtOnce * panelWidth]float64)
	for ; useLoops && len(some) >= rowsAtOnce; some = some[rowsAtOnce:] {
		four.take(some)
		for b := range shape.Panels() {
			start, width := shape.Panel(b)
			for k, i := range some[:rowsAtOnce] {
				copy(scales[k*width:(k+1)*width], q[int(i)*stride+b*panelWidth:])
			}
			denseWideAxpys.choose(width)(a.d, &four.place, unsafe.Pointer(&dst[start]), unsafe.Pointer(scales))
		}
	}
	for _, i := range some {
		for b := range shape.Panels() {
			start, width := shape.Panel(b)
			own := q[int(i)*stride+b*panelWidth : int(i)*stride+b*panelWidth+width]
			for j, v := range a.row(int(i)) {
				weights := dst[start+j*width : start+(j+1)*width]
				for c, s := range own {
					weights[c] += float64(v) * s
				}
			}
		}
	}
}

// fourRows are rows as float64: the caller's where they are that, otherwise copies.
type fourRows[V float32 | float64] struct {
	from   *dense[V]
	copies []float64
	place  [rowsAtOnce]unsafe.Pointer
}

// take takes the first four of the rows.
func (f *fourRows[V]) take(rows []int32) {
	d := f.from.d
	for k, i := range rows[:rowsAtOnce] {
		row := unsafe.Pointer(unsafe.SliceData(f.from.row(int(i))))
		if unsafe.Sizeof(V(0)) == 4 {
			if f.copies == nil {
				f.copies = make([]float64, rowsAtOnce*d)
			}
			into := f.copies[k*d : (k+1)*d]
			widen(unsafe.Slice((*float32)(row), d), into)
			row = unsafe.Pointer(unsafe.SliceData(into))
		}
		f.place[k] = row
	}
}

// widen copies float32 to float64.
func widen(from []float32, to []float64) {
	n := 0
	if useLoops && len(from) >= 8 {
		n = len(from) &^ 7
		widenLoop(n, unsafe.Pointer(&from[0]), unsafe.Pointer(&to[0]))
	}
	for k := n; k < len(from); k++ {
		to[k] = float64(from[k])
	}
}
