package belief

import "github.com/fewlabel/fewlabel/engine/work"

// layout is where the scores of the unlabeled rows stand: at their places in vectors [n, stride], and in order in
// vectors [unlabeled, classes].
type layout struct {
	job     *work.Job
	rows    []int32   // unlabeled
	weights []float64 // [rows]
	classes int
	stride  int
}

// row is the part of a vector [n, stride] with the classes of unlabeled row k.
func (l *layout) row(v []float64, k int) []float64 {
	start := int(l.rows[k]) * l.stride
	return v[start : start+l.classes]
}

// place is the part of a vector [unlabeled, classes] of unlabeled row k.
func (l *layout) place(v []float64, k int) []float64 { return v[k*l.classes : (k+1)*l.classes] }

// each calls do for every unlabeled row.
func (l *layout) each(do func(k int)) {
	l.job.EachRow(len(l.rows), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			do(k)
		}
	})
}

// sum adds what do adds to part, over all unlabeled rows; scratch [classes] is written.
func (l *layout) sum(sums []float64, do func(k int, part, scratch []float64)) {
	l.job.Sum(len(l.rows), sums, func(lo, hi int, part []float64) {
		scratch := make([]float64, 2*l.classes)
		for k := lo; k < hi; k++ {
			do(k, part, scratch)
		}
	})
}
