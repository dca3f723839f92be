package csr

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Wide is the shape of the weights of several classes: a matrix of features times classes in panels of up to eight
// classes. In a panel the classes of a feature lie side by side, 64 bytes, so that a non-zero of a row touches one
// cache line a panel; panels follow one another. Classes are filled up to a multiple of four, but one class is one
// vector.
//
// A product with wide weights reads the rows once for every panel; it counts as one pass, for all classes.
type Wide struct {
	Features int
	Classes  int
}

const panelWidth = 8

// Stride is the number of classes filled up: the length of a row of scores.
func (w Wide) Stride() int {
	if w.Classes == 1 {
		return 1
	}
	return (w.Classes + 3) / 4 * 4
}

// Len is the length of a vector of weights.
func (w Wide) Len() int { return w.Features * w.Stride() }

// Panels is the number of panels.
func (w Wide) Panels() int { return (w.Classes + panelWidth - 1) / panelWidth }

// Panel gives the place and the width of panel b in a vector of weights; its first class is 8 b.
func (w Wide) Panel(b int) (start, width int) {
	return b * panelWidth * w.Features, min(panelWidth, w.Stride()-b*panelWidth)
}

// At is the place of a feature's weight for a class.
func (w Wide) At(feature, class int) int {
	start, width := w.Panel(class / panelWidth)
	return start + feature*width + class%panelWidth
}

// TimesWide sets the scores dst [rows, stride] of the rows of a subset: x_i . p_y for every class y, those of a row
// side by side. The weights p may have a few features more than the matrix.
func (m *Matrix) TimesWide(job *work.Job, on *Subset, dst, p []float64, shape Wide) {
	m.needWide(dst, p, shape)
	stride := shape.Stride()
	if stride == 1 {
		m.TimesOn(job, on, dst, p)
		return
	}
	on.eachChunk(job.Pool, func(rows []int32) {
		m.kernel.timesWide(rows, dst, p, shape)
		for _, i := range rows {
			vector.Scale(dst[int(i)*stride:(int(i)+1)*stride], m.scale)
		}
	})
}

// AddTransposedWide adds Σ q_iy x_i over the rows of a subset to the weights dst, for every class y; q [rows, stride].
func (m *Matrix) AddTransposedWide(job *work.Job, on *Subset, dst, q []float64, shape Wide) {
	m.needWide(q, dst, shape)
	if shape.Stride() == 1 {
		m.AddTransposedOn(job, on, dst, q)
		return
	}
	job.AddSums(dst, func(dst []float64) {
		if k, ok := m.kernel.(rowKernel); ok {
			addBlocks(job.Pool, on, dst, func(_ int, rows []int32, sum []float64) {
				k.addRowsWide(rows, sum, q, m.scale, shape)
			})
			return
		}
		m.addPanels(job.Pool, on, dst, q, shape)
	})
}

// addPanels is AddTransposedWide where the panels are divided among the threads.
func (m *Matrix) addPanels(pool *work.Pool, on *Subset, dst, q []float64, shape Wide) {
	whole := m.wholePanels(on, shape)
	split := min(shape.Len(), whole*panelWidth*shape.Features)
	sums := pool.Borrow(shape.Len() - split) // of a panel's second half of the rows, from there on
	half, halves := on.half(m), 2*(shape.Panels()-whole)
	pool.Run(whole+halves, func(task int) {
		b, part := task, task-whole/2 // the halves stand between the whole panels: each thread begins with some of both
		cut := part >= 0 && part < halves
		switch {
		case cut:
			b = whole + part/2
		case part >= halves:
			b -= halves
		}
		second := cut && part%2 == 1
		start, width := shape.Panel(b)
		into, rows := dst[start:start+width*shape.Features], on.rows
		switch {
		case second:
			into, rows = sums[start-split:start-split+len(into)], on.rows[half:]
			clear(into)
		case cut:
			rows = on.rows[:half]
		}
		m.kernel.(panelKernel).addTransposedWide(rows, into, q, m.scale, shape.Stride(), b*panelWidth)
	})
	pool.Stripes(len(sums), func(lo, hi int) { vector.Add(dst[split+lo:split+hi], 1, sums[lo:hi]) })
	pool.Return(sums)
}

// wholePanels is how many panels are added by one task each. Of the others, if there are few panels, each is added by
// two tasks with half of the rows: all where there are one or two panels, otherwise the last one of an odd number.
func (m *Matrix) wholePanels(on *Subset, shape Wide) int {
	panels := shape.Panels()
	switch {
	case on.nonZeros < 2*smallBlock || panels >= 8:
		return panels
	case panels <= 2:
		return 0
	}
	return panels - panels%2
}

// half is the place in the subset behind half of its non-zeros.
func (s *Subset) half(m *Matrix) int {
	done := 0
	for k, i := range s.rows {
		if 2*done >= s.nonZeros {
			return k
		}
		done += m.rowLength(i)
	}
	return len(s.rows)
}

func (m *Matrix) needWide(scores, weights []float64, shape Wide) {
	if len(scores) != m.Rows()*shape.Stride() || len(weights) != shape.Len() || shape.Features < m.cols {
		panic("csr: wide vector of the wrong length")
	}
}

// panelKernel adds the rows to one panel of weights, so that panels can be divided among threads.
type panelKernel interface {
	addTransposedWide(rows []int32, panel, q []float64, scale float64, stride, first int)
}

func (a *arrays[I, V]) timesWide(rows []int32, dst, p []float64, shape Wide) {
	for b := range shape.Panels() {
		start, width := shape.Panel(b)
		a.timesPanel(rows, dst, p[start:start+width*shape.Features], shape.Stride(), b*panelWidth)
	}
}

func (a *arrays[I, V]) timesPanel(rows []int32, dst, panel []float64, stride, first int) {
	base, width := unsafe.Pointer(unsafe.SliceData(panel)), min(panelWidth, stride-first)
	loop := dotLoops.choose(width, unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0)))
	for _, i := range rows {
		indices, values := a.row(int(i))
		out := dst[int(i)*stride+first : int(i)*stride+first+width]
		switch {
		case loop != nil:
			loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)), base,
				unsafe.Pointer(unsafe.SliceData(out)))
		case width == panelWidth:
			dot8(indices, values, base, (*[8]float64)(out))
		default:
			dot4(indices, values, base, (*[4]float64)(out))
		}
	}
}

func (a *arrays[I, V]) addTransposedWide(rows []int32, panel, q []float64, scale float64, stride, first int) {
	base, width := unsafe.Pointer(unsafe.SliceData(panel)), min(panelWidth, stride-first)
	loop := axpyLoops.choose(width, unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0)))
	scales := make([]float64, width)
	for _, i := range rows {
		indices, values := a.row(int(i))
		for c, v := range q[int(i)*stride+first : int(i)*stride+first+width] {
			scales[c] = scale * v
		}
		switch {
		case allZero(scales):
		case loop != nil:
			loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)), base,
				unsafe.Pointer(unsafe.SliceData(scales)))
		case width == panelWidth:
			axpy8(indices, values, (*[8]float64)(scales), base)
		default:
			axpy4(indices, values, (*[4]float64)(scales), base)
		}
	}
}

func allZero(values []float64) bool {
	for _, v := range values {
		if v != 0 {
			return false
		}
	}
	return true
}

// dot8 sets dst to Σ values[k] panel[indices[k]], for eight classes.
func dot8[I index, V value](indices []I, values []V, panel unsafe.Pointer, dst *[8]float64) {
	n := len(indices)
	ip, vp := unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values))
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for k := range n {
		v := float64(at[V](vp, k))
		w := (*[8]float64)(unsafe.Add(panel, int(at[I](ip, k))*64))
		s0 += v * w[0]
		s1 += v * w[1]
		s2 += v * w[2]
		s3 += v * w[3]
		s4 += v * w[4]
		s5 += v * w[5]
		s6 += v * w[6]
		s7 += v * w[7]
	}
	*dst = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

func dot4[I index, V value](indices []I, values []V, panel unsafe.Pointer, dst *[4]float64) {
	n := len(indices)
	ip, vp := unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values))
	var s0, s1, s2, s3 float64
	for k := range n {
		v := float64(at[V](vp, k))
		w := (*[4]float64)(unsafe.Add(panel, int(at[I](ip, k))*32))
		s0 += v * w[0]
		s1 += v * w[1]
		s2 += v * w[2]
		s3 += v * w[3]
	}
	*dst = [4]float64{s0, s1, s2, s3}
}

// axpy8 adds scales * values[k] to panel[indices[k]], for eight classes.
func axpy8[I index, V value](indices []I, values []V, scales *[8]float64, panel unsafe.Pointer) {
	q0, q1, q2, q3, q4, q5, q6, q7 := scales[0], scales[1], scales[2], scales[3], scales[4], scales[5], scales[6],
		scales[7]
	n := len(indices)
	ip, vp := unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values))
	for k := range n {
		v := float64(at[V](vp, k))
		w := (*[8]float64)(unsafe.Add(panel, int(at[I](ip, k))*64))
		w[0] += v * q0
		w[1] += v * q1
		w[2] += v * q2
		w[3] += v * q3
		w[4] += v * q4
		w[5] += v * q5
		w[6] += v * q6
		w[7] += v * q7
	}
}

func axpy4[I index, V value](indices []I, values []V, scales *[4]float64, panel unsafe.Pointer) {
	q0, q1, q2, q3 := scales[0], scales[1], scales[2], scales[3]
	n := len(indices)
	ip, vp := unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values))
	for k := range n {
		v := float64(at[V](vp, k))
		w := (*[4]float64)(unsafe.Add(panel, int(at[I](ip, k))*32))
		w[0] += v * q0
		w[1] += v * q1
		w[2] += v * q2
		w[3] += v * q3
	}
}
