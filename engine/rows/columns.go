package rows

import (
	"sync"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// columns are the rows of a Matrix once more, feature by feature. A sum over the rows for several classes then reads
// scores, which are few, in place of writing weights, which do not fit into the caches, and every thread writes weights
// of its own. Measured with 20 classes of 20 Newsgroups, one thread: annealing takes 0.83 to 0.90 of the time, and
// switching 0.94 to 0.99.
type columns struct {
	made  sync.Once
	sums  columnSums
	parts []int32 // first features of parts with about as many non-zeros each, and the end
}

type columnSums interface {
	// addFeatures adds scale Σ x_ij q_i to the weights dst of the features lo ... hi-1, for every class.
	addFeatures(lo, hi int32, dst, q []float64, scale float64, shape panel.Shape)
}

const (
	columnParts   = 64
	bytesOfColumn = 4 + 8 // a non-zero: its row and value
	mostWeights   = 2     // vectors of weights whose bytes a copy may take: fewer weights fit into the caches
)

// ColumnBytes are those of the columns of rows with a number of non-zeros; 0: products with such weights do without.
func ColumnBytes(nonZeros int, shape panel.Shape) int {
	bytes := bytesOfColumn * nonZeros
	if shape.Stride() == 1 || nonZeros < 4*smallBlock || bytes > mostWeights*8*shape.Len() {
		return 0
	}
	return bytes
}

// byColumns reports whether AddTransposedPanels reads the columns. They have all rows: of a small subset's sum, most of
// what it reads would be of other rows.
func (m *Matrix) byColumns(on *Subset, shape panel.Shape) bool {
	return !m.Dense() && 2*on.nonZeros >= m.NonZeros() && ColumnBytes(m.NonZeros(), shape) > 0
}

// addColumns is AddTransposedPanels by columns.
func (m *Matrix) addColumns(pool *work.Pool, on *Subset, dst, q []float64, shape panel.Shape) {
	c := m.columns
	c.made.Do(func() { c.sums, c.parts = m.kernel.(columnKernel).columns(m.cols) })
	if len(on.rows) < m.Rows() {
		stride, all := shape.Stride(), q
		q = pool.Borrow(len(all))
		defer pool.Return(q)
		clear(q)
		for _, i := range on.rows {
			copy(q[int(i)*stride:(int(i)+1)*stride], all[int(i)*stride:])
		}
	}
	pool.Run(len(c.parts)-1, func(k int) { c.sums.addFeatures(c.parts[k], c.parts[k+1], dst, q, m.scale, shape) })
}

type columnKernel interface {
	columns(cols int) (sums columnSums, parts []int32)
}

// columns are a transposed copy: its rows are the features.
func (a *arrays[I, V]) columns(cols int) (sums columnSums, parts []int32) {
	all := a.stored()
	t := &arrays[int32, V]{make([]int64, cols+1), make([]int32, len(all)), make([]V, len(all))}
	for _, j := range all {
		t.indptr[j+1]++
	}
	parts, last := []int32{0}, int64(0)
	for j := range cols {
		t.indptr[j+1] += t.indptr[j]
		if end := t.indptr[j+1]; j+1 == cols || end-last >= int64(len(all)/columnParts) {
			parts, last = append(parts, int32(j+1)), end
		}
	}
	next := make([]int64, cols)
	copy(next, t.indptr)
	for i := range a.rows() {
		indices, values := a.row(i)
		for k, j := range indices {
			t.indices[next[j]], t.values[next[j]] = int32(i), values[k]
			next[j]++
		}
	}
	return t, parts
}

func (a *arrays[I, V]) addFeatures(lo, hi int32, dst, q []float64, scale float64, shape panel.Shape) {
	for _, of := range shape.Pieces(1) {
		times := a.panelTimes(unsafe.Pointer(&q[of.First]), shape.Stride(), of.Width)
		for j := int(lo); j < int(hi); j++ {
			at := of.Start + j*of.Stride
			vector.Add(dst[at:at+of.Width], scale, times(j))
		}
	}
}
