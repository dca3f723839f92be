package rows

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// TimesPanels sets the scores dst [rows, stride] of the rows of a subset: x_i . p_y for every class y, those of a row
// side by side. The weights p may have a few features more than the matrix.
func (m *Matrix) TimesPanels(job *work.Job, on *Subset, dst, p []float64, shape panel.Shape) {
	needPanels(m, dst, p, shape)
	on.eachChunk(job.Pool, func(rows []int32) { timesColumns(m.kernel, rows, dst, p, m.scale, shape) })
}

// timesColumns sets the scores of rows, for one class or several.
func timesColumns(k kernel, rows []int32, dst, p []float64, scale float64, shape panel.Shape) {
	stride := shape.Stride()
	if stride == 1 {
		k.times(rows, dst, p, scale)
		return
	}
	k.timesPanels(rows, dst, p, shape)
	for _, i := range rows {
		vector.Scale(dst[int(i)*stride:(int(i)+1)*stride], scale)
	}
}

// AddTransposedPanels adds Σ q_iy x_i over the rows of a subset to the weights dst for each class y; q [rows, stride].
func (m *Matrix) AddTransposedPanels(job *work.Job, on *Subset, dst, q []float64, shape panel.Shape) {
	needPanels(m, q, dst, shape)
	switch {
	case shape.Stride() == 1:
		m.AddTransposedOn(job, on, dst, q)
	case m.Dense():
		m.addBlocks(job, on, dst, nil, func(rows []int32, dst, _ []float64) {
			m.kernel.addPanels(rows, dst, q, m.scale, shape, panel.Panel{})
		})
	default:
		m.addSums(job, dst, func() { addPieces(job.Pool, m, on, dst, q, shape) })
	}
}

// addPieces is AddTransposedPanels where pieces of the panels are divided among the threads. Up to eight classes are
// added by two tasks with half of the rows each, whatever the number of threads.
func addPieces(pool *work.Pool, m *Matrix, on *Subset, dst, q []float64, shape panel.Shape) {
	if pieces := shape.Pieces(pool.Threads()); shape.Stride() > panel.PartWidth || on.nonZeros < 2*smallBlock {
		pool.Run(len(pieces), func(task int) { m.kernel.addPanels(on.rows, dst, q, m.scale, shape, pieces[task]) })
		return
	}
	half, sums := on.cut(m, nil, 2)[1], pool.Borrow(shape.Len())
	pool.Run(2, func(task int) {
		if task == 0 {
			m.kernel.addPanels(on.rows[:half], dst, q, m.scale, shape, shape.Panel(0))
			return
		}
		clear(sums)
		m.kernel.addPanels(on.rows[half:], sums, q, m.scale, shape, shape.Panel(0))
	})
	pool.Stripes(len(sums), func(lo, hi int) { vector.Add(dst[lo:hi], 1, sums[lo:hi]) })
	pool.Return(sums)
}

func needPanels(m *Matrix, scores, weights []float64, shape panel.Shape) {
	need(len(scores) == m.Rows()*shape.Stride() && len(weights) == shape.Len() && shape.Features >= m.cols)
}

func (a *arrays[I, V]) timesPanels(rows []int32, dst, p []float64, shape panel.Shape) {
	for _, of := range shape.Pieces(1) {
		times := a.panelTimes(unsafe.Pointer(&p[of.Start]), of.Stride, of.Width)
		for _, i := range rows {
			copy(dst[int(i)*shape.Stride()+of.First:], times(int(i)))
		}
	}
}

// panelTimes gives a row's products with the columns of a panel, stride values apart; the next call overwrites them.
func (a *arrays[I, V]) panelTimes(weights unsafe.Pointer, stride, width int) func(i int) []float64 {
	loop, room := dotLoops.choose(unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0)), dotClasses[I, V]), new([panel.Width]float64)
	return func(i int) []float64 {
		indices, values := a.row(i)
		loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)), weights,
			unsafe.Pointer(room), width/4, 8*stride)
		return room[:width]
	}
}

func (a *arrays[I, V]) addPanels(rows []int32, dst, q []float64, scale float64, shape panel.Shape, piece panel.Panel) {
	weights, stride := unsafe.Pointer(&dst[piece.Start]), shape.Stride()
	loop, room := axpyLoops.choose(unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0)), axpyClasses[I, V]), new([panel.Width]float64)
	scales := room[:piece.Width]
	for _, i := range rows {
		indices, values := a.row(int(i))
		for c, v := range q[int(i)*stride+piece.First : int(i)*stride+piece.First+piece.Width] {
			scales[c] = scale * v
		}
		if !allZero(scales) {
			loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)), weights,
				unsafe.Pointer(room), piece.Width/4, 8*piece.Stride)
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

// dotClasses is a classLoop for all processors.
func dotClasses[I index, V value](n int, indices, values, panel, classes unsafe.Pointer, fours, stride int) {
	for c := range fours {
		var s0, s1, s2, s3 float64
		for k := range n {
			v, w := float64(at[V](values, k)), at[[4]float64](unsafe.Add(panel, int(at[I](indices, k))*stride), c)
			s0 += v * w[0]
			s1 += v * w[1]
			s2 += v * w[2]
			s3 += v * w[3]
		}
		*(*[4]float64)(unsafe.Add(classes, 32*c)) = [4]float64{s0, s1, s2, s3}
	}
}

// axpyClasses is a classLoop for all processors.
func axpyClasses[I index, V value](n int, indices, values, panel, classes unsafe.Pointer, fours, stride int) {
	for c := range fours {
		q := at[[4]float64](classes, c)
		for k := range n {
			v, w := float64(at[V](values, k)), (*[4]float64)(unsafe.Add(panel, int(at[I](indices, k))*stride+32*c))
			w[0] += v * q[0]
			w[1] += v * q[1]
			w[2] += v * q[2]
			w[3] += v * q[3]
		}
	}
}
