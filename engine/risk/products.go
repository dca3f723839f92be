package risk

import (
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Products with the rows, in both directions and with the Hessian; those of rounded numbers are in rounded.go.

// times puts the stored scores along p into dst; shift is that of p, and mean [outputs] is added, or nil.
func (r *Risk) times(on *rows.Subset, dst, p, shift, mean []float64) {
	r.job.CountAndCheck(int64(on.NonZeros()))
	r.rows.TimesPanels(r.job, on, dst, p, r.shape)
	r.complete(on, dst, shift, mean)
}

// complete turns products with columns into stored scores.
func (r *Risk) complete(on *rows.Subset, dst, shift, mean []float64) {
	shift = append([]float64(nil), shift...)
	if r.Map.Flat() {
		for y, m := range mean {
			shift[y] += m
		}
		mean = nil
	}
	rows := on.Rows()
	r.job.EachRow(len(rows), func(lo, hi int) { r.completeRows(rows[lo:hi], dst, shift, mean) })
}

func (r *Risk) completeRows(rows []int32, dst, shift, mean []float64) {
	stride, flat := r.shape.Stride(), r.Map.Flat()
	for _, i := range rows {
		row := dst[int(i)*stride : (int(i)+1)*stride]
		vector.Add(row, 1, shift)
		if !flat {
			r.Map.Down(row)
		}
		for y, m := range mean {
			row[y] += m
		}
	}
}

func (r *Risk) addTransposed(on *rows.Subset, dst, q []float64) {
	r.job.CountAndCheck(int64(on.NonZeros()))
	r.rows.AddTransposedPanels(r.job, on, dst, q, r.shape)
}

// gram adds the rows' part of HessVec to dst for one column, with one look at each row, and returns the curvature along
// p and the sums of what the rows are multiplied with.
func (r *Risk) gram(dst, p, shift []float64) (curvature float64, total []float64) {
	r.job.CountAndCheck(2 * int64(r.active.NonZeros()))
	sum, curvature := r.rows.AddGram(r.job, r.active, dst, r.state, p, shift[0])
	return curvature, []float64{sum}
}

// product is gram for any number of columns.
func (r *Risk) product(dst, p, shift []float64) (curvature float64, total []float64) {
	stride, rows := r.shape.Stride(), r.active.Rows()
	r.times(r.active, r.changes, p, shift, nil)
	joint := r.sumJoint(func(j Joint) float64 { return j.HessVec(r.changes, r.slope, r.state) })
	sums := make([]float64, 1+stride)
	r.job.Total(len(rows), sums, func(lo, hi int, part []float64) { r.hessVecs(rows[lo:hi], part) })
	r.job.ReduceDeferred(sums)
	r.addTransposed(r.active, dst, r.changes)
	return sums[0] + joint, sums[1:]
}

// hessVecs is hessVec for some rows of r.changes: it adds the curvature and the products to sums.
func (r *Risk) hessVecs(rows []int32, sums []float64) {
	stride, scratch := r.shape.Stride(), r.newScratch()
	for _, i := range rows {
		change := r.changes[int(i)*stride : (int(i)+1)*stride]
		sums[0] += r.hessVec(i, change, scratch)
		vector.Add(sums[1:], 1, change)
	}
}

// hessVec replaces a change of row i's stored scores [stride] by the second derivative of its loss times it, in
// columns, and returns the curvature along the change. Of a row with LabelJoint the products are there.
func (r *Risk) hessVec(i int32, change []float64, s scratch) (curvature float64) {
	outputs := r.Map.Outputs()
	if r.Label[i] != LabelJoint {
		curvature = r.terms.hessVec(i, change, s)
	}
	clear(change[outputs:])
	r.Map.Up(change)
	return curvature
}
