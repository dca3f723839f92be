package rows

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// kernel is what a matrix does with its rows, for one choice of index and value type. All sums are in float64.
type kernel interface {
	part(first, end int) kernel                                    // the rows first ... end-1
	selected(pool *work.Pool, rows []int32, indptr []int64) kernel // some rows
	indexBytes() int                                               // of a stored index; 0: dense
	counts(cols int) []float64                                     // of the stored values of each feature
	renumbered(pool *work.Pool, old []int32, cols int) kernel      // feature k in place of old[k]
	visit(i int, visit func(col int, value float64))
	squares(i int, scale float64) float64 // the sum of the squares of scale times the values
	pattern(i int, hashes []uint64, full bool) uint64
	rowTimes(i int, p []float64) float64
	times(rows []int32, dst, p []float64, scale float64) // a call of rowTimes a row: 1.05 of a fit of text
	addTransposed(rows []int32, dst, q []float64, scale float64)
	// timesPanels sets the scores dst of rows, stride numbers apart, by the weights p of panels.
	timesPanels(rows []int32, dst, p []float64, stride int, panels []panel.Panel)
	// addPanels adds the rows to the classes of a piece of the weights.
	addPanels(rows []int32, dst, q []float64, scale float64, shape panel.Shape, piece panel.Panel)
	inside(cols int) bool // whether there is a feature for every index
	// timesColumn sets dst, for a row every so many numbers, to the products of all rows with the weights w[j*step] of
	// feature j; false if an index is no feature.
	timesColumn(dst []float64, every int, w []float64, step, cols int) bool
	checked(m *Matrix) (*Matrix, error) // see Matrix.Checked
}

// arrays are the caller's three arrays. After check every index is known to be in range, so the inner loops read them
// through pointers, four at a time, without bounds checks.
type arrays[I index, V value] struct {
	indptr  []int64
	indices []I
	values  []V
}

type (
	index interface{ uint16 | int32 | int64 }
	value interface{ float32 | float64 }
)

func (a *arrays[I, V]) checkBounds() error {
	if len(a.indptr) == 0 {
		return fault.Data("indptr is empty: it must have one entry more than there are rows")
	}
	if a.indptr[0] != 0 {
		return fault.Data("indptr[0] is %d: it must be 0", a.indptr[0])
	}
	stored := int64(min(len(a.indices), len(a.values)))
	for i, end := range a.indptr[1:] {
		if end < a.indptr[i] {
			return fault.Data("indptr falls from %d to %d at row %d", a.indptr[i], end, i)
		}
		if end > stored {
			return fault.Data("indptr[%d] requires %d values, but there are only %d", i+1, end, stored)
		}
	}
	return nil
}

func (a *arrays[I, V]) checkRow(i, cols int) error {
	indices, values := a.row(i)
	for _, j := range indices {
		if uint64(j) >= uint64(cols) {
			return fault.Data("row %d has index %d: the matrix has features 0 to %d", i, j, cols-1)
		}
	}
	return checkFinite(i, values, func(k int) int { return int(indices[k]) })
}

// checkFinite refuses values of row i that are no numbers; feature gives that of a place.
func checkFinite[V value](i int, values []V, feature func(place int) int) error {
	if vector.Finite(values) {
		return nil
	}
	bad := slices.IndexFunc(values, func(v V) bool { return v*0 != 0 })
	return fault.Data("row %d has the value %v at feature %d: NaN and infinity are not allowed", i, values[bad],
		feature(bad))
}

func (a *arrays[I, V]) rows() int { return len(a.indptr) - 1 }

func (a *arrays[I, V]) part(first, end int) kernel {
	return &arrays[I, V]{a.indptr[first : end+1], a.indices, a.values}
}

func (a *arrays[I, V]) row(i int) ([]I, []V) {
	lo, hi := a.indptr[i], a.indptr[i+1]
	return a.indices[lo:hi], a.values[lo:hi]
}

func (a *arrays[I, V]) visit(i int, visit func(col int, value float64)) {
	indices, values := a.row(i)
	for k, v := range values {
		visit(int(indices[k]), float64(v))
	}
}

func (a *arrays[I, V]) squares(i int, scale float64) float64 {
	_, values := a.row(i)
	return squares(values, scale)
}

func squares[V value](values []V, scale float64) (total float64) {
	for _, v := range values {
		total += (scale * float64(v)) * (scale * float64(v))
	}
	return total
}

func (a *arrays[I, V]) rowTimes(i int, p []float64) float64 {
	indices, values := a.row(i)
	return dot(indices, values, p)
}

// repeats reports whether an index stands twice in a row; rows whose indices do not rise have up to longest of them.
// scikit-learn's vectorizers make such rows: to sort them took a third of a fit of comp.* with the class shares given.
func (a *arrays[I, V]) repeats(longest int) bool {
	places := make([]uint64, 1<<bits.Len(uint(2*longest))) // a hash table: the row and an index of it
	last := uint64(len(places) - 1)
	for i := range a.rows() {
		indices, _ := a.row(i)
		if rising(indices) {
			continue
		}
		row := uint64(i + 1)
		for _, j := range indices {
			entry := row<<32 | uint64(j)
			place := mixed(uint64(j)) & last
			for places[place]>>32 == row {
				if places[place] == entry {
					return true
				}
				place = (place + 1) & last
			}
			places[place] = entry
		}
	}
	return false
}

// merged are the same rows with every index once: its values are added up at the first of its places.
func (a *arrays[I, V]) merged() *arrays[int32, float64] {
	stored := len(a.stored())
	m := &arrays[int32, float64]{make([]int64, 1, len(a.indptr)), make([]int32, 0, stored), make([]float64, 0, stored)}
	for i := range a.rows() {
		indices, values := a.row(i)
		place := make(map[I]int, len(indices))
		for k, j := range indices {
			if first, repeated := place[j]; repeated {
				m.values[first] += float64(values[k])
				continue
			}
			place[j] = len(m.indices)
			m.indices, m.values = append(m.indices, int32(j)), append(m.values, float64(values[k]))
		}
		m.indptr = append(m.indptr, int64(len(m.indices)))
	}
	return m
}

func rising[I index](indices []I) bool {
	for k := 1; k < len(indices); k++ {
		if indices[k-1] >= indices[k] {
			return false
		}
	}
	return true
}

func (a *arrays[I, V]) times(rows []int32, dst, p []float64, scale float64) {
	for _, i := range rows {
		dst[i] = scale * a.rowTimes(int(i), p)
	}
}

func (a *arrays[I, V]) addTransposed(rows []int32, dst, q []float64, scale float64) {
	for _, i := range rows {
		if q[i] != 0 {
			indices, values := a.row(int(i))
			axpy(indices, values, scale*q[i], dst)
		}
	}
}

// at is base[k] without a bounds check.
func at[T any](base unsafe.Pointer, k int) T {
	return *(*T)(unsafe.Add(base, uintptr(k)*unsafe.Sizeof(*new(T))))
}

// four are the indices from place k on.
func four[I index](base unsafe.Pointer, k int) (i0, i1, i2, i3 int) {
	if unsafe.Sizeof(I(0)) == 2 { // in one load
		all := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(base, 2*k))[:])
		return int(uint16(all)), int(uint16(all >> 16)), int(uint16(all >> 32)), int(all >> 48)
	}
	all := (*[4]I)(unsafe.Add(base, k*int(unsafe.Sizeof(I(0)))))
	return int(all[0]), int(all[1]), int(all[2]), int(all[3])
}

// dot is Σ values[k] p[indices[k]], in four sums.
func dot[I index, V value](indices []I, values []V, p []float64) float64 {
	n := len(indices)
	ip, vp, pp := unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)),
		unsafe.Pointer(unsafe.SliceData(p))
	var s0, s1, s2, s3 float64
	k := 0
	for ; k+3 < n; k += 4 {
		i0, i1, i2, i3 := four[I](ip, k)
		s0 += float64(at[V](vp, k)) * at[float64](pp, i0)
		s1 += float64(at[V](vp, k+1)) * at[float64](pp, i1)
		s2 += float64(at[V](vp, k+2)) * at[float64](pp, i2)
		s3 += float64(at[V](vp, k+3)) * at[float64](pp, i3)
	}
	for ; k < n; k++ {
		s0 += float64(at[V](vp, k)) * at[float64](pp, int(at[I](ip, k)))
	}
	return (s0 + s1) + (s2 + s3)
}

// axpy adds scale * values[k] to dst[indices[k]], in the order of the indices, since one may stand twice.
func axpy[I index, V value](indices []I, values []V, scale float64, dst []float64) {
	n := len(indices)
	ip, vp, dp := unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)),
		unsafe.Pointer(unsafe.SliceData(dst))
	k := 0
	for ; k+3 < n; k += 4 {
		i0, i1, i2, i3 := four[I](ip, k)
		v0, v1 := scale*float64(at[V](vp, k)), scale*float64(at[V](vp, k+1))
		v2, v3 := scale*float64(at[V](vp, k+2)), scale*float64(at[V](vp, k+3))
		*(*float64)(unsafe.Add(dp, i0*8)) += v0
		*(*float64)(unsafe.Add(dp, i1*8)) += v1
		*(*float64)(unsafe.Add(dp, i2*8)) += v2
		*(*float64)(unsafe.Add(dp, i3*8)) += v3
	}
	for ; k < n; k++ {
		*(*float64)(unsafe.Add(dp, int(at[I](ip, k))*8)) += scale * float64(at[V](vp, k))
	}
}

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
	k.timesPanels(rows, dst, p, stride, shape.Pieces(1))
	for _, i := range rows {
		vector.Scale(dst[int(i)*stride:(int(i)+1)*stride], scale)
	}
}

// AddTransposedPanels adds Σ q_iy x_i over the rows of a subset to the weights dst for each class y; q [rows, stride].
func (m *Matrix) AddTransposedPanels(job *work.Job, on *Subset, dst, q []float64, shape panel.Shape) {
	needPanels(m, q, dst, shape)
	if m.Dense() || shape.Stride() == 1 {
		m.addBlocks(job, on, dst, nil, func(rows []int32, dst, _ []float64) {
			addColumns(m.kernel, rows, dst, q, m.scale, shape, panel.Panel{})
		})
		return
	}
	m.addSums(job, dst, nil, func() { addPieces(job.Pool, m, on, dst, q, shape) })
}

// addColumns adds rows to one class or several.
func addColumns(k kernel, rows []int32, dst, q []float64, scale float64, shape panel.Shape, piece panel.Panel) {
	if shape.Stride() == 1 {
		k.addTransposed(rows, dst, q, scale)
	} else {
		k.addPanels(rows, dst, q, scale, shape, piece)
	}
}

// addPieces is AddTransposedPanels where pieces of the panels are divided among the threads. Up to eight classes are
// added by two tasks with half of the rows each, whatever the number of threads.
func addPieces(pool *work.Pool, m *Matrix, on *Subset, dst, q []float64, shape panel.Shape) {
	if pieces := shape.Pieces(pool.Threads()); shape.Stride() > panel.PartWidth || on.nonZeros < 2*smallBlock {
		pool.Run(len(pieces), func(task int) { m.kernel.addPanels(on.rows, dst, q, m.scale, shape, pieces[task]) })
		return
	}
	halves, sums := on.cut(m, nil, 2), make([]float64, shape.Len())
	into := [][]float64{dst, sums}
	pool.Run(len(halves), func(task int) {
		m.kernel.addPanels(halves[task], into[task], q, m.scale, shape, shape.Panel(0))
	})
	pool.Stripes(len(sums), func(lo, hi int) { vector.Add(dst[lo:hi], 1, sums[lo:hi]) })
}

func needPanels(m *Matrix, scores, weights []float64, shape panel.Shape) {
	need(len(scores) == m.Rows()*shape.Stride() && len(weights) == shape.Len() && shape.Features >= m.cols)
}

func (a *arrays[I, V]) timesPanels(rows []int32, dst, p []float64, stride int, panels []panel.Panel) {
	loop, room := dotLoops.choose(unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0)), dotClasses[I, V]), new([panel.Width]float64)
	for _, of := range panels {
		for _, i := range rows {
			indices, values := a.row(int(i))
			loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)),
				unsafe.Pointer(&p[of.Start]), unsafe.Pointer(room), of.Width/4, 8*of.Stride)
			copy(dst[int(i)*stride+of.First:], room[:of.Width])
		}
	}
}

func (a *arrays[I, V]) addPanels(rows []int32, dst, q []float64, scale float64, shape panel.Shape, piece panel.Panel) {
	weights, stride := unsafe.Pointer(&dst[piece.Start]), shape.Stride()
	loop, room := axpyLoops.choose(unsafe.Sizeof(I(0)), unsafe.Sizeof(V(0)), axpyClasses[I, V]), new([panel.Width]float64)
	scales := room[:piece.Width]
	for _, i := range rows {
		indices, values := a.row(int(i))
		floats.ScaleTo(scales, scale, q[int(i)*stride+piece.First:][:piece.Width])
		if slices.ContainsFunc(scales, notZero) {
			loop(len(indices), unsafe.Pointer(unsafe.SliceData(indices)), unsafe.Pointer(unsafe.SliceData(values)), weights,
				unsafe.Pointer(room), piece.Width/4, 8*piece.Stride)
		}
	}
}

func notZero(v float64) bool { return v != 0 }

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
