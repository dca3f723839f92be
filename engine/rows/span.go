package rows

import (
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Span is neighbouring rows, First ... End-1, as the tokens of a sequence. Products with spans are for one machine.
type Span struct{ First, End int }

func (s Span) Len() int { return s.End - s.First }

// TimesPanels sets the scores dst [rows of the span, stride]: x_i . p_y for every class y.
func (s Span) TimesPanels(m *Matrix, dst, p []float64, shape panel.Shape) {
	part, rows := s.of(m)
	if shape.Stride() == 1 {
		part.times(rows, dst, p, m.scale)
		return
	}
	part.timesPanels(rows, dst, p, shape)
	vector.Scale(dst[:len(rows)*shape.Stride()], m.scale)
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
