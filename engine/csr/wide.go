package csr

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Wide is the shape of the weights of several classes: a matrix of features times classes in panels of up to 32
// classes, one panel behind the other. In a panel the classes of a feature lie side by side, so that a non-zero of a
// row is read once for all of them, and eight of them are a cache line, which one thread writes. One class is one
// vector.
//
// A product with wide weights reads the rows once for every panel; it counts as one pass, for all classes.
type Wide struct {
	Features int
	Classes  int
}

const (
	panelWidth = 32
	partWidth  = 8 // of a panel, for one thread
)

// Stride is the length of a row of scores: the classes filled up to a multiple of four.
func (w Wide) Stride() int {
	if w.Classes == 1 {
		return 1
	}
	return (w.Classes + 3) / 4 * 4
}

// Len is the length of a vector of weights.
func (w Wide) Len() int {
	last := w.Panel(w.Panels() - 1)
	return last.Start + last.Stride*w.Features
}

// Panels is the number of panels.
func (w Wide) Panels() int { return (w.Classes + panelWidth - 1) / panelWidth }

// Panel is some of the classes in a vector of weights.
type Panel struct {
	Start, Stride int // place of the first feature's weights; from a feature to the next
	First, Width  int // classes
}

// Panel is number b. What fills its stride up to a multiple of eight stays zero.
func (w Wide) Panel(b int) Panel {
	first := b * panelWidth
	width := min(panelWidth, w.Stride()-first)
	stride := width
	if width > partWidth {
		stride = (width + partWidth - 1) / partWidth * partWidth
	}
	return Panel{first * w.Features, stride, first, width}
}

// At is the place of a feature's weight for a class.
func (w Wide) At(feature, class int) int {
	p := w.Panel(class / panelWidth)
	return p.Start + feature*p.Stride + class - p.First
}

// part is the classes lo ... hi-1 of a panel.
func (p Panel) part(lo, hi int) Panel { return Panel{p.Start + lo, p.Stride, p.First + lo, hi - lo} }

// pieces are the panels, cut into parts of some eights of classes where there are too few for the threads.
func (w Wide) pieces(threads int) (pieces []Panel) {
	for b := range w.Panels() {
		p, cuts := w.Panel(b), 1
		eights := p.Stride / partWidth
		if w.Panels() < 2*threads {
			cuts = max(1, min(threads, eights))
		}
		for k := range cuts {
			pieces = append(pieces, p.part(eights*k/cuts*partWidth, min(p.Width, max(1, eights*(k+1)/cuts)*partWidth)))
		}
	}
	return pieces
}

// eachPart visits all classes, up to eight at a time.
func (w Wide) eachPart(visit func(part Panel)) {
	for first := 0; first < w.Stride(); first += partWidth {
		p := w.Panel(first / panelWidth)
		visit(p.part(first-p.First, min(p.Width, first-p.First+partWidth)))
	}
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
	m.addSums(job, dst, func(dst []float64) {
		if k, ok := m.kernel.(rowKernel); ok {
			addBlocks(job.Pool, on, dst, func(_ int, rows []int32, sum []float64) {
				k.addRowsWide(rows, sum, q, m.scale, shape)
			})
			return
		}
		if m.byColumns(on, shape) {
			m.addColumns(job.Pool, on, dst, q, shape)
		} else {
			m.addPieces(job.Pool, on, dst, q, shape)
		}
	})
}

// addPieces is AddTransposedWide where pieces of the panels are divided among the threads. Up to eight classes are
// added by two tasks with half of the rows each, whatever the number of threads.
func (m *Matrix) addPieces(pool *work.Pool, on *Subset, dst, q []float64, shape Wide) {
	k := m.kernel.(panelKernel)
	if pieces := shape.pieces(pool.Threads()); shape.Stride() > partWidth || on.nonZeros < 2*smallBlock {
		pool.Run(len(pieces), func(task int) { k.addTransposedWide(on.rows, dst, q, m.scale, shape, pieces[task]) })
		return
	}
	half, sums := on.half(m), pool.Borrow(shape.Len())
	pool.Run(2, func(task int) {
		if task == 0 {
			k.addTransposedWide(on.rows[:half], dst, q, m.scale, shape, shape.Panel(0))
			return
		}
		clear(sums)
		k.addTransposedWide(on.rows[half:], sums, q, m.scale, shape, shape.Panel(0))
	})
	pool.Stripes(len(sums), func(lo, hi int) { vector.Add(dst[lo:hi], 1, sums[lo:hi]) })
	pool.Return(sums)
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

// panelKernel adds the rows to some classes of weights.
type panelKernel interface {
	addTransposedWide(rows []int32, dst, q []float64, scale float64, shape Wide, piece Panel)
}

func (a *arrays[I, V]) timesWide(rows []int32, dst, p []float64, shape Wide) {
	for _, panel := range shape.pieces(1) {
		a.timesPanel(rows, dst, p, shape, panel)
	}
}

func (a *arrays[I, V]) timesPanel(rows []int32, dst, p []float64, shape Wide, of Panel) {
	times := a.panelTimes(unsafe.Pointer(&p[of.Start]), of.Stride, of.Width)
	for _, i := range rows {
		copy(dst[int(i)*shape.Stride()+of.First:], times(int(i)))
	}
}

// panelTimes gives for a row its products with the columns of a panel, which has a row of width values for each index,
// stride values apart. The next call overwrites them.
func (a *arrays[I, V]) panelTimes(panel unsafe.Pointer, stride, width int) func(i int) []float64 {
	loop, room := dotLoops.choose(unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0))), new([panelWidth]float64)
	return func(i int) []float64 {
		indices, values := a.row(i)
		if loop != nil {
			loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)), panel,
				unsafe.Pointer(room), width/4, 8*stride)
		} else {
			dotWide(indices, values, panel, stride, room[:width])
		}
		return room[:width]
	}
}

func (a *arrays[I, V]) addTransposedWide(rows []int32, dst, q []float64, scale float64, shape Wide, piece Panel) {
	panel, stride := unsafe.Pointer(&dst[piece.Start]), shape.Stride()
	loop, room := axpyLoops.choose(unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0))), new([panelWidth]float64)
	scales := room[:piece.Width]
	for _, i := range rows {
		indices, values := a.row(int(i))
		for c, v := range q[int(i)*stride+piece.First : int(i)*stride+piece.First+piece.Width] {
			scales[c] = scale * v
		}
		switch {
		case allZero(scales):
		case loop != nil:
			loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)), panel,
				unsafe.Pointer(room), piece.Width/4, 8*piece.Stride)
		default:
			axpyWide(indices, values, scales, panel, piece.Stride)
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

// dotWide sets sums to Σ values[k] panel[indices[k]], four classes at a time.
func dotWide[I index, V value](indices []I, values []V, panel unsafe.Pointer, stride int, sums []float64) {
	for c := 0; c < len(sums); c += 4 {
		var s0, s1, s2, s3 float64
		for k, j := range indices {
			v, w := float64(values[k]), (*[4]float64)(unsafe.Add(panel, 8*(int(j)*stride+c)))
			s0 += v * w[0]
			s1 += v * w[1]
			s2 += v * w[2]
			s3 += v * w[3]
		}
		*(*[4]float64)(sums[c:]) = [4]float64{s0, s1, s2, s3}
	}
}

// axpyWide adds scales * values[k] to panel[indices[k]], four classes at a time.
func axpyWide[I index, V value](indices []I, values []V, scales []float64, panel unsafe.Pointer, stride int) {
	for c := 0; c < len(scales); c += 4 {
		q0, q1, q2, q3 := scales[c], scales[c+1], scales[c+2], scales[c+3]
		for k, j := range indices {
			v, w := float64(values[k]), (*[4]float64)(unsafe.Add(panel, 8*(int(j)*stride+c)))
			w[0] += v * q0
			w[1] += v * q1
			w[2] += v * q2
			w[3] += v * q3
		}
	}
}
