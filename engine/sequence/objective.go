package sequence

import (
	"github.com/fewlabel/fewlabel/engine/vector"
)

// objective is F(w) = α/2 |w|² + 1/L Σ loss of a sequence, over L labeled tokens.
type objective struct {
	*sample
	scores  []float64 // [tokens, stride]; the gradient in the scores after At
	cuts    []int     // [blocks+1] sequences, of about as many tokens each
	scorers [blocks]scorer
	counts  [blocks]*counts
	chain   *chain
}

func newObjective(s *sample) *objective {
	f := &objective{sample: s, scores: make([]float64, len(s.labels)*s.shape.Stride()), chain: s.newChain()}
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
		f.counts[b] = newCounts(s.tags)
	}
	return f
}

// At implements minimize.Smooth.
func (f *objective) At(at, gradient []float64) float64 {
	w, g := weightsOf(at, f.shape), weightsOf(gradient, f.shape)
	total := f.losses(w)
	clear(gradient)
	f.rows.AddTransposedPanels(f.Job, f.rows.All(), g.coef, f.scores, f.shape)
	f.CountAndCheck(int64(f.rows.NonZeros()))
	for _, counts := range f.counts {
		vector.Add(g.chain.all, 1, counts.all)
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
	f.setChain(f.chain, w.chain)
	f.rows.TimesPanels(f.Job, f.rows.All(), f.scores, w.coef, f.shape)
	f.CountAndCheck(int64(f.rows.NonZeros()))
	var values [blocks]float64
	f.Run(blocks, func(b int) {
		clear(f.counts[b].all)
		for i := f.cuts[b]; i < f.cuts[b+1]; i++ {
			f.Check()
			scores := f.scores[f.bounds[i]*f.shape.Stride() : f.bounds[i+1]*f.shape.Stride()]
			values[b] += f.scorers[b].lossAt(f.sample, f.loss, f.chain, i, scores, f.counts[b])
		}
	})
	return vector.Sum(values[:])
}
