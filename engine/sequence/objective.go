package sequence

import (
	"github.com/fewlabel/fewlabel/engine/vector"
)

// blocks is in how many parts, of about equal numbers of tokens, sequences are cut for sums; it depends on nothing, so
// that sums have the same bits on any number of threads.
const blocks = 16

// objective is F(w) = α/2 |w|² + 1/L Σ loss of a sequence, over L labeled tokens.
type objective struct {
	*sample
	scores  []float64 // [tokens, stride]; the gradient in the scores after At
	cuts    []int     // [blocks+1] sequences
	workers [blocks]worker
	counts  [blocks]*Counts
	chain   *Chain
}

func newObjective(s *sample) *objective {
	f := &objective{sample: s, scores: make([]float64, len(s.labels)*s.shape.Stride()), chain: NewChain(s.tags)}
	tokens := len(s.labels)
	for i := range s.sequences() {
		for len(f.cuts) < blocks && s.bounds[i]*blocks >= len(f.cuts)*tokens {
			f.cuts = append(f.cuts, i)
		}
	}
	for len(f.cuts) <= blocks {
		f.cuts = append(f.cuts, s.sequences())
	}
	for b := range blocks {
		f.counts[b] = NewCounts(s.tags)
	}
	return f
}

// At implements minimize.Smooth.
func (f *objective) At(at, gradient []float64) float64 {
	w, g := view(at, f.shape), view(gradient, f.shape)
	total := f.losses(w)
	clear(gradient)
	f.rows.AddTransposedPanels(f.Job, f.rows.All(), g.coef, f.scores, f.shape)
	f.CountAndCheck(int64(f.rows.NonZeros()))
	for _, counts := range f.counts {
		counts.addTo(g)
	}
	alpha, average := f.options.Alpha, 1/f.labeled
	var square [1]float64
	f.Total(len(at), square[:], func(lo, hi int, dst []float64) {
		dst[0] = vector.Dot(at[lo:hi], at[lo:hi])
		for j := lo; j < hi; j++ {
			gradient[j] = alpha*at[j] + average*gradient[j]
		}
	})
	return alpha/2*square[0] + average*total
}

// losses returns the sum of the losses and leaves its gradient in scores and counts.
func (f *objective) losses(w weights) float64 {
	f.chainAt(f.chain, w)
	f.rows.TimesPanels(f.Job, f.rows.All(), f.scores, w.coef, f.shape)
	f.CountAndCheck(int64(f.rows.NonZeros()))
	var values [blocks]float64
	f.Run(blocks, func(b int) {
		f.counts[b].clear()
		for i := f.cuts[b]; i < f.cuts[b+1]; i++ {
			f.Check()
			scores := f.scores[f.bounds[i]*f.shape.Stride() : f.bounds[i+1]*f.shape.Stride()]
			values[b] += f.lossAt(&f.workers[b], f.chain, i, scores, f.counts[b])
		}
	})
	return vector.Sum(values[:])
}
