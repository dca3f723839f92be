package risk

import (
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// linear is what rows and weights give each other: stored scores of rows along a vector of weights, and sums of rows.
type linear struct {
	job      *work.Job
	rows     *rows.Matrix
	Map      scores.Map
	frame    frame
	shape    panel.Shape   // of the weights
	rounding *rows.Rounded // rounded products, or nil
}

// times puts the stored scores along p into dst; shift is that of p, and mean [outputs] is added, or nil.
func (l *linear) times(on *rows.Subset, dst, p, shift, mean []float64, rounded bool) {
	l.job.CountAndCheck(int64(on.NonZeros()))
	if rounded {
		l.rounding.Times(l.job, on, dst, p)
	} else {
		l.rows.TimesPanels(l.job, on, dst, p, l.shape)
	}
	shift = append([]float64(nil), shift...)
	if l.Map.Flat() {
		for y, m := range mean {
			shift[y] += m
		}
		mean = nil
	}
	rows := on.Rows()
	l.job.Stripes(len(rows), func(lo, hi int) { l.completeRows(rows[lo:hi], dst, shift, mean) })
}

func (l *linear) completeRows(rows []int32, dst, shift, mean []float64) {
	stride, flat := l.shape.Stride(), l.Map.Flat()
	for _, i := range rows {
		row := dst[int(i)*stride : (int(i)+1)*stride]
		vector.Add(row, 1, shift)
		if !flat {
			l.Map.Down(row)
		}
		for y, m := range mean {
			row[y] += m
		}
	}
}

// Stride is the length of a row of stored scores.
func (l *linear) Stride() int { return l.shape.Stride() }

// eachFeature visits the weights [outputs] of every feature.
func (l *linear) eachFeature(weights []float64, visit func(feature int, weights []float64)) {
	row := make([]float64, l.shape.Stride())
	for j := range l.rows.Cols() {
		for v := range l.Map.Columns() {
			row[v] = weights[l.shape.At(j, v)]
		}
		l.Map.Down(row)
		visit(j, row[:l.Map.Outputs()])
	}
}

func (l *linear) intercepts(weights []float64) []float64 {
	shift := l.frame.shift(l.job.Pool, weights)
	l.Map.Down(shift)
	intercept := shift[:l.Map.Outputs()]
	for y, m := range l.frame.Mean {
		intercept[y] += m
	}
	return intercept
}
