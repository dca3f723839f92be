package rows

import (
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Subset is a list of rows of one matrix, cut twice by non-zeros: into a few blocks, each with a sum vector of its own
// in products with Xᵀ, and into many chunks for products with X. The cuts depend on the rows only, not on the threads.
type Subset struct {
	rows     []int32
	blocks   []int // block b is rows[blocks[b]:blocks[b+1]]
	chunks   []int
	nonZeros int
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

func (s *Subset) Blocks() int { return len(s.blocks) - 1 }

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

// cut appends to dst[:0] the bounds of count pieces with about equal non-zeros.
func (s *Subset) cut(m *Matrix, dst []int, count int) []int {
	dst = append(dst[:0], 0)
	done := 0
	for k, i := range s.rows {
		if len(dst) < count && done*count >= len(dst)*s.nonZeros && k > dst[len(dst)-1] {
			dst = append(dst, k)
		}
		done += m.RowNonZeros(int(i))
	}
	return append(dst, len(s.rows))
}

func (s *Subset) eachChunk(pool *work.Pool, task func(rows []int32)) {
	pool.Run(len(s.chunks)-1, func(c int) { task(s.rows[s.chunks[c]:s.chunks[c+1]]) })
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
			if shape.Stride() == 1 {
				part.addTransposed(rows, dst, q[k], m.scale)
			} else {
				part.addPanels(rows, dst, q[k], m.scale, shape, pieces[task])
			}
		}
	})
}

// Decisions is that of a matrix for a span; the weights are those of the stored rows.
func (s Span) Decisions(m *Matrix, by Weights, dst []float64) {
	part, _ := s.of(m)
	part.decide(&by, m.cols, dst)
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
