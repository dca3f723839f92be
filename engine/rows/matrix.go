// Package rows views the caller's sparse rows and multiplies with them: X p, Xᵀ q and Xᵀ diag(h) X p, over all rows or
// a subset. The caller's arrays are borrowed and never written. Indices may be unsorted; an index that stands twice in
// a row counts with the sum of its values.
package rows

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Matrix is a view of n rows with d features in compressed row form. Several products may be under way at a time. Those
// that sum over rows add the rows of all machines of their job, unless every machine has them all.
type Matrix struct {
	cols   int
	scale  float64 // x_i is this many times the stored row
	kernel kernel
	indptr []int64
	all    *Subset

	everywhere bool    // every machine has these rows: their sums are whole
	absent     []int32 // see Absent
}

// New is a View that is Checked.
func New[P, I int32 | int64, V float32 | float64](cols int, indptr []P, indices []I, values []V) (*Matrix, error) {
	m, err := View(cols, indptr, indices, values)
	if err != nil {
		return nil, err
	}
	return m.Checked()
}

// View views a matrix with len(indptr)-1 rows, perhaps none, and reads indptr only. Until it is Checked it has
// Decisions alone, which check the indices; a value that is not finite goes into the decisions of its row.
func View[P, I int32 | int64, V float32 | float64](cols int, indptr []P, indices []I, values []V) (*Matrix, error) {
	if err := cmp.Or(checkShape(cols, max(1, len(indptr)-1)), needForRows(len(indptr)-1, 0)); err != nil {
		return nil, err
	}
	a := &arrays[I, V]{indptr: make([]int64, len(indptr)), indices: indices, values: values}
	for i, end := range indptr {
		a.indptr[i] = int64(end)
	}
	if err := a.checkBounds(); err != nil {
		return nil, err
	}
	return &Matrix{cols: cols, scale: 1, kernel: a, indptr: a.indptr}, nil
}

// Checked has rows in which every index is in 0 ... cols-1, once, and every value is finite. It refuses others.
func (m *Matrix) Checked() (*Matrix, error) {
	if err := checkShape(m.cols, m.Rows()); err != nil {
		return nil, err
	}
	return m.kernel.checked(m)
}

func (a *arrays[I, V]) checked(m *Matrix) (*Matrix, error) {
	unsorted := 0 // length of the longest row whose indices do not rise
	for i := range a.rows() {
		if err := a.checkRow(i, m.cols); err != nil {
			return nil, err
		}
		if indices, _ := a.row(i); !rising(indices) {
			unsorted = max(unsorted, len(indices))
		}
	}
	if unsorted > 0 {
		bytes := bytesMerging*float64(unsorted) + bytesMerged*float64(len(a.stored()))
		if err := needForRows(a.rows(), bytes); err != nil {
			return nil, err
		}
		if a.repeats(unsorted) {
			merged := a.merged()
			for i := range merged.rows() { // sums can overflow
				if err := merged.checkRow(i, m.cols); err != nil {
					return nil, err
				}
			}
			return newMatrix(m.cols, merged, merged.indptr), nil
		}
	}
	return newMatrix(m.cols, a, a.indptr), nil
}

const (
	bytesRow     = 4 + 8       // its number and its end
	bytesMerged  = 4 + 8       // an index and its value
	bytesMerging = 5 * (8 + 8) // an index of a row, in two hash tables
)

func needForRows(rows int, more float64) error {
	return memory.Need(bytesRow*float64(rows)+more, fmt.Sprintf("a view of %d rows", rows),
		"give fewer rows at a time, with sorted indices, or use a machine with more memory")
}

// Empty has no rows, as a machine that shares the work of others may; isDense is the kind of the others' rows.
func Empty(cols int, isDense bool) (*Matrix, error) {
	if err := checkShape(cols, 1); err != nil {
		return nil, err
	}
	var k kernel = &arrays[int32, float64]{indptr: []int64{0}}
	if isDense {
		k = &dense[float64]{d: cols, stride: cols}
	}
	return newMatrix(cols, k, []int64{0}), nil
}

func checkShape(cols, rows int) error {
	switch {
	case cols < 1:
		return fault.Data("n_features is %d: at least one feature is needed", cols)
	case cols > math.MaxInt32:
		return fault.Data("n_features is %d: at most %d are supported", cols, math.MaxInt32)
	case rows < 1:
		return fault.Data("the matrix has no rows")
	case rows > math.MaxInt32:
		return fault.Data("the matrix has %d rows: at most %d are supported", rows, math.MaxInt32)
	}
	return nil
}

// newMatrix has the rows of a kernel; indptr are the sums of their numbers of stored values.
func newMatrix(cols int, k kernel, indptr []int64) *Matrix {
	m := &Matrix{cols: cols, scale: 1, kernel: k, indptr: indptr}
	m.all = m.Subset(Numbers(len(indptr) - 1))
	return m
}

// Numbers are 0 ... n-1.
func Numbers(n int) []int32 {
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(i)
	}
	return numbers
}

func (m *Matrix) Rows() int { return len(m.indptr) - 1 }

func (m *Matrix) Cols() int { return m.cols }

func (m *Matrix) Dense() bool { return m.kernel.indexBytes() == 0 }

func (m *Matrix) NonZeros() int { return int(m.indptr[m.Rows()]) }

func (m *Matrix) All() *Subset { return m.all }

// Row calls visit for every stored value of row i, times the scale, in stored order.
func (m *Matrix) Row(i int, visit func(col int, value float64)) {
	m.kernel.visit(i, func(col int, value float64) { visit(col, m.scale*value) })
}

// RowTimes is x_i . p.
func (m *Matrix) RowTimes(i int, p []float64) float64 { return m.scale * m.kernel.rowTimes(i, p) }

// AddTransposedOn adds Σ q_i x_i over the rows of a subset to dst.
func (m *Matrix) AddTransposedOn(job *work.Job, on *Subset, dst, q []float64) {
	m.AddTransposedPanels(job, on, dst, q, panel.Shape{Features: len(dst), Classes: 1})
}

// AddGram adds Σ c_i x_i over the rows of a subset to dst, where c_i = h_i f_i and f_i = x_i . p + shift: the
// generalized Hessian times a vector. It returns Σ c_i.
func (m *Matrix) AddGram(job *work.Job, on *Subset, dst, h, p []float64, shift float64) float64 {
	need(len(h) == m.Rows() && len(p) >= m.cols)
	products, sums := make([]float64, m.Rows()), make([]float64, 1)
	m.addBlocks(job, on, dst[:m.cols], sums, func(rows []int32, dst, sums []float64) {
		total := 0.0
		for group := range slices.Chunk(rows, m.rowsWith(gramValues)) {
			m.kernel.times(group, products, p, m.scale)
			for _, i := range group {
				products[i] = h[i] * (products[i] + shift)
				total += products[i]
			}
			m.kernel.addTransposed(group, dst, products, m.scale)
		}
		sums[0] = total
	})
	return sums[0]
}

// gramValues are multiplied before they are added: they stay in the second-level cache, and p and dst do not fight for
// it in every row. With 2^8 or 2^16 of 200,000 features products take 1.15 times the time.
const gramValues = 1 << 12

// rowsWith is the number of rows that have about so many non-zeros.
func (m *Matrix) rowsWith(nonZeros int) int { return 1 + nonZeros*m.Rows()/(1+m.Rows()+m.NonZeros()) }

func (m *Matrix) SquaredNorm(i int) float64 { return m.kernel.squares(i, m.scale) }

// addSums adds sums over the rows to dst, the same on all machines, and to the few sums: add adds those over the rows
// that are here.
func (m *Matrix) addSums(job *work.Job, dst, sums []float64, add func()) {
	shared := job.Group != nil && !m.everywhere
	if shared && job.Group.Rank > 0 {
		clear(dst) // what was there comes from the first machine
	}
	add()
	if shared {
		job.ReduceDeferred(sums)
		job.Reduce(dst)
	}
}

// addBlocks lets every block of a subset add to dst, and to the few sums: each block to vectors of its own, the first
// one to dst itself, which are added in block order.
func (m *Matrix) addBlocks(job *work.Job, on *Subset, dst, sums []float64, add func(rows []int32, to, sums []float64)) {
	into, parts := [][]float64{dst}, make([]float64, len(on.blocks)*len(sums))
	for range on.blocks[1:] {
		into = append(into, make([]float64, len(dst)))
	}
	m.addSums(job, dst, sums, func() {
		job.Run(len(into), func(b int) { add(on.blocks[b], into[b], parts[b*len(sums):][:len(sums)]) })
		if len(into) > 1 {
			job.Stripes(len(dst), func(lo, hi int) {
				for _, other := range into[1:] {
					vector.Add(dst[lo:hi], 1, other[lo:hi])
				}
			})
		}
		for ; len(parts) > 0; parts = parts[len(sums):] {
			vector.Add(sums, 1, parts)
		}
	})
}

func need(rightLengths bool) {
	if !rightLengths {
		panic("rows: vector of the wrong length")
	}
}

// Subset is a list of rows of one matrix, cut twice by non-zeros: into a few blocks, each with a sum vector of its own
// in products with Xᵀ, and into many chunks for products with X. The cuts depend on the rows only, not on the threads.
type Subset struct {
	rows           []int32
	blocks, chunks [][]int32 // one after the other: all rows
	nonZeros       int
}

const (
	maxBlocks     = 16    // more would add sum vectors faster than it adds speed
	smallBlock    = 32768 // non-zeros below which a goroutine costs more than it saves
	blockPerCols  = 8     // a block's sum vector is worth it from this many non-zeros per column on
	chunkNonZeros = 65536
	maxChunks     = 256
)

func (m *Matrix) Subset(rows []int32) *Subset {
	s := &Subset{}
	s.Reset(m, rows)
	return s
}

// Reset gives the subset other rows and keeps its memory; rows is kept, not copied.
func (s *Subset) Reset(m *Matrix, rows []int32) {
	s.rows = rows
	s.nonZeros = 0
	for _, i := range rows {
		s.nonZeros += m.RowNonZeros(int(i))
	}
	s.blocks = s.cut(m, s.blocks, blockCount(s.nonZeros, m.cols))
	s.chunks = s.cut(m, s.chunks, min(maxChunks, 1+s.nonZeros/chunkNonZeros))
}

func (m *Matrix) RowNonZeros(i int) int { return int(m.indptr[i+1] - m.indptr[i]) }

func (s *Subset) Rows() []int32 { return s.rows }

func (s *Subset) NonZeros() int { return s.nonZeros }

// blockCount is a power of two: 1 for small work, then about one block for every blockPerCols*cols non-zeros.
func blockCount(nonZeros, cols int) int {
	if nonZeros < 2*smallBlock || nonZeros < 2*cols {
		return 1
	}
	count := 2
	for count < maxBlocks && nonZeros/(2*count) >= max(smallBlock, blockPerCols*cols) {
		count *= 2
	}
	return count
}

// cut appends to dst[:0] up to count pieces of the rows with about equal non-zeros.
func (s *Subset) cut(m *Matrix, dst [][]int32, count int) [][]int32 {
	dst = dst[:0]
	first, done := 0, 0
	for k, i := range s.rows {
		if cuts := len(dst) + 1; cuts < count && done*count >= cuts*s.nonZeros && k > first {
			dst, first = append(dst, s.rows[first:k]), k
		}
		done += m.RowNonZeros(int(i))
	}
	return append(dst, s.rows[first:])
}

func (s *Subset) eachChunk(pool *work.Pool, task func(rows []int32)) {
	pool.Run(len(s.chunks), func(c int) { task(s.chunks[c]) })
}

// Span is neighbouring rows, First ... End-1, as the tokens of a sequence. Products with spans are for one machine.
type Span struct{ First, End int }

func (s Span) Len() int { return s.End - s.First }

// TimesPanels sets the scores dst [rows of the span, stride]: x_i . p_y for every class y.
func (s Span) TimesPanels(m *Matrix, dst, p []float64, shape panel.Shape) {
	part, rows := s.of(m)
	timesColumns(part, rows, dst, p, m.scale, shape)
}

// AddSpans adds Σ q_iy x_i over spans to the weights dst, for every class y; q of a span [its rows, stride].
func AddSpans(pool *work.Pool, m *Matrix, spans []Span, dst []float64, q [][]float64, shape panel.Shape) {
	pieces := shape.Pieces(pool.Threads())
	if m.Dense() || shape.Stride() == 1 {
		pieces = pieces[:1] // all classes at once
	}
	pool.Run(len(pieces), func(task int) {
		for k, s := range spans {
			part, rows := s.of(m)
			addColumns(part, rows, dst, q[k], m.scale, shape, pieces[task])
		}
	})
}

// Decisions is that of a matrix for a span; the weights are those of the stored rows.
func (s Span) Decisions(m *Matrix, by Weights, dst []float64) {
	part, rows := s.of(m)
	decide(part, rows, &by, dst)
}

// Features appends the features of a span that do not have this mark yet to list, and marks them: marks [cols].
func (s Span) Features(m *Matrix, marks []int32, mark int32, list []int32) []int32 {
	for i := s.First; i < s.End; i++ {
		m.kernel.visit(i, func(col int, _ float64) {
			if marks[col] != mark {
				marks[col] = mark
				list = append(list, int32(col))
			}
		})
	}
	return list
}

func (s Span) of(m *Matrix) (kernel, []int32) {
	return m.kernel.part(s.First, s.End), m.all.rows[:s.Len()] // the rows are 0, 1, ...
}
