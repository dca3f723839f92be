package risk

import "github.com/fewlabel/fewlabel/engine/rows"

// Round implements minimize.Rounded: where rows.Matrix has rounded products, these are taken. Scores are computed anew
// as soon as products have to be exact. Those of HessVec never have to be: they only shape the Newton step.
func (r *Risk) Round(allowed bool) {
	before := r.rounded
	r.rounded = allowed && r.rounds()
	if before && !r.rounded {
		r.score(r.support)
	}
}

// rounds reports whether there are rounded products.
func (r *Risk) rounds() bool { return len(r.Joint) == 0 && r.rows.Rounds(r.shape) }

// timesRounded is times, rounded.
func (r *Risk) timesRounded(on *rows.Subset, dst, p, shift []float64) {
	r.job.CountAndCheck(int64(on.NonZeros()))
	r.rows.TimesRounded(r.job, on, dst, p, r.shape)
	r.complete(on, dst, shift, nil)
}

// addRounded is addTransposed, rounded.
func (r *Risk) addRounded(on *rows.Subset, dst, q []float64) {
	r.job.CountAndCheck(int64(on.NonZeros()))
	r.rows.AddTransposedRounded(r.job, on, dst, q, r.largestCost(), r.shape)
}

// roundedProduct is product, rounded: it reads the rows once.
func (r *Risk) roundedProduct(dst, p, shift []float64) (curvature float64, total []float64) {
	sums := make([]float64, 1+r.shape.Stride())
	r.job.CountAndCheck(2 * int64(r.active.NonZeros()))
	r.rows.AddGramRounded(r.job, r.active, dst, r.changes, p, r.largestCost(), r.shape, sums,
		func(rows []int32, sums []float64) {
			r.completeRows(rows, r.changes, shift, nil)
			r.hessVecs(rows, sums)
		})
	return sums[0], sums[1:]
}

// largestCost is that of the rows with a weight.
func (r *Risk) largestCost() (largest float64) {
	for _, i := range r.support.Rows() {
		largest = max(largest, r.Cost[i])
	}
	return largest
}
