package rows

import "github.com/fewlabel/fewlabel/engine/work"

// Rows are the caller's arrays before anybody has looked at them.
type Rows interface {
	// Matrix checks all of them, for many products.
	Matrix() (*Matrix, error)
	// Decisions are those of the Matrix. It is for one product: the indices are checked along the way, the values are not:
	// NaN and infinity go into the decisions of their row.
	Decisions(pool *work.Pool, by Weights, dst []float64) error
}

// View views len(indptr)-1 rows with cols features.
func View[P, I int32 | int64, V float32 | float64](cols int, indptr []P, indices []I, values []V) Rows {
	stored := min(len(indices), len(values))
	return &view[P, I, V]{cols, indptr, indices[:stored], values[:stored]}
}

type view[P, I int32 | int64, V float32 | float64] struct {
	cols    int
	indptr  []P
	indices []I
	values  []V
}

func (a *view[P, I, V]) Matrix() (*Matrix, error) { return New(a.cols, a.indptr, a.indices, a.values) }

func (a *view[P, I, V]) Decisions(pool *work.Pool, by Weights, dst []float64) error {
	if err := checkShape(a.cols, 1); err != nil {
		return err
	}
	rows := decided{rows: len(a.indptr) - 1, cols: a.cols, nonZeros: len(a.indices), part: a.part}
	if a.indptr[0] == 0 && rows.decide(pool, &by, dst) {
		return nil
	}
	_, err := a.Matrix() // names what is wrong
	return err
}

// part gives the rows first ... end-1; nil if indptr is wrong there.
func (a *view[P, I, V]) part(first, end int) kernel {
	indptr := widened(a.indptr[first : end+1])
	for k, place := range indptr {
		if place < 0 || place > int64(len(a.indices)) || k > 0 && place < indptr[k-1] {
			return nil
		}
	}
	return &arrays[I, V]{indptr, a.indices, a.values}
}
