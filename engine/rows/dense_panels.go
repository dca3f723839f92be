package rows

import (
	"math"
	"slices"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Dense rows are multiplied with parts of up to eight classes, four or eight rows at a time, so that a feature's
// weights are loaded once for them. Rows of float32 are widened once for all parts: the inner loops take float64.

const rowsAtOnce = 4

const (
	rowsInTurn     = 32 // that go through some features before the next ones
	featuresInTurn = 96 // whose weights stay in the fastest memory meanwhile
)

func (a *dense[V]) timesPanels(rows []int32, dst, p []float64, shape panel.Shape) {
	if useLoops {
		a.timesInTurns(rows, dst, p, shape)
		return
	}
	for _, i := range rows {
		out := dst[int(i)*shape.Stride() : (int(i)+1)*shape.Stride()]
		clear(out)
		for b := range shape.Panels() {
			panel := shape.Panel(b)
			sums := out[panel.First : panel.First+panel.Width]
			for j, v := range a.row(int(i)) {
				at := panel.Start + j*panel.Stride
				for c, w := range p[at : at+panel.Width] {
					sums[c] = math.FMA(float64(v), w, sums[c])
				}
			}
		}
	}
}

func (a *dense[V]) timesInTurns(rows []int32, dst, p []float64, shape panel.Shape) {
	const eight = 2 * rowsAtOnce
	most := (min(len(rows), rowsInTurn) + eight - 1) / eight * eight
	wide := float64Rows[V]{from: a, place: make([]unsafe.Pointer, most)}
	sums, four := make([]float64, most*shape.Stride()), rowsAtOnce*shape.Stride()
	for some := range slices.Chunk(rows, rowsInTurn) {
		wide.take(some)
		clear(sums)
		for first := 0; first < a.d; first += featuresInTurn {
			for k := 0; k < len(some); k += eight {
				places, own := [eight]unsafe.Pointer{}, sums[k*shape.Stride():]
				for i := range places {
					places[i] = unsafe.Add(wide.place[k+i], 8*first)
				}
				dotPanels(&places, first, min(a.d-first, featuresInTurn), p, own[:four], own[four:2*four], shape)
			}
		}
		scatterSums(some, dst, sums, shape)
	}
}

// scatterSums puts sums into the rows of dst: those of four rows are [4, width] for one part after the other.
func scatterSums(rows []int32, dst, sums []float64, shape panel.Shape) {
	for k, i := range rows {
		own, out := sums[k/rowsAtOnce*rowsAtOnce*shape.Stride():], dst[int(i)*shape.Stride():(int(i)+1)*shape.Stride()]
		shape.EachPart(func(part panel.Panel) {
			at := rowsAtOnce*part.First + k%rowsAtOnce*part.Width
			copy(out[part.First:], own[at:at+part.Width])
		})
	}
}

// addPanels adds to all panels.
func (a *dense[V]) addPanels(rows []int32, dst, q []float64, scale float64, shape panel.Shape, _ panel.Panel) {
	stride := shape.Stride()
	var some []int32
	for _, i := range rows {
		if !allZero(q[int(i)*stride : (int(i)+1)*stride]) {
			some = append(some, i)
		}
	}
	wide := float64Rows[V]{from: a, place: make([]unsafe.Pointer, rowsAtOnce)}
	scales := new([rowsAtOnce * panel.PartWidth]float64)
	for ; useLoops && len(some) > 0; some = some[min(len(some), rowsAtOnce):] {
		group := some[:min(len(some), rowsAtOnce)]
		wide.take(group)
		shape.EachPart(func(part panel.Panel) {
			own := scales[:rowsAtOnce*part.Width]
			clear(own[len(group)*part.Width:])
			for k, i := range group {
				copy(own[k*part.Width:(k+1)*part.Width], q[int(i)*stride+part.First:])
			}
			vector.Scale(own, scale)
			four := (*[rowsAtOnce]unsafe.Pointer)(wide.place)
			axpyRows[part.Width/4-1](a.d, 8*part.Stride, four, unsafe.Pointer(&dst[part.Start]), unsafe.Pointer(scales))
		})
	}
	for _, i := range some {
		for b := range shape.Panels() {
			panel := shape.Panel(b)
			own := q[int(i)*stride+panel.First : int(i)*stride+panel.First+panel.Width]
			for j, v := range a.row(int(i)) {
				weights := dst[panel.Start+j*panel.Stride:]
				for c, s := range own {
					weights[c] += float64(v) * (scale * s)
				}
			}
		}
	}
}

// float64Rows are rows as float64: the caller's where they are that, otherwise copies.
type float64Rows[V value] struct {
	from   *dense[V]
	copies []float64
	place  []unsafe.Pointer
}

// take takes rows; where there is room for more the last one stands for them.
func (w *float64Rows[V]) take(rows []int32) {
	d := w.from.d
	if w.copies == nil && unsafe.Sizeof(V(0)) == 4 {
		w.copies = make([]float64, len(w.place)*d)
	}
	for k := range w.place {
		if k >= len(rows) {
			w.place[k] = w.place[k-1]
			continue
		}
		row := unsafe.Pointer(unsafe.SliceData(w.from.row(int(rows[k]))))
		if unsafe.Sizeof(V(0)) == 4 {
			into := w.copies[k*d : (k+1)*d]
			widen(unsafe.Slice((*float32)(row), d), into)
			row = unsafe.Pointer(unsafe.SliceData(into))
		}
		w.place[k] = row
	}
}

func widen(from []float32, to []float64) {
	for ; len(from) >= 4 && len(to) >= 4; from, to = from[4:], to[4:] {
		to[0], to[1], to[2], to[3] = float64(from[0]), float64(from[1]), float64(from[2]), float64(from[3])
	}
	for k, v := range from {
		to[k] = float64(v)
	}
}
