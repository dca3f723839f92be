package sequence

import "github.com/fewlabel/fewlabel/engine/panel"

// weights are all numbers that are learned, in one vector: of the features, in units of the rows' length and in the
// panels of shape, then of the chain.
type weights struct {
	all   []float64
	coef  []float64 // [shape.Len]
	chain edges
}

// newWeights are 0.
func newWeights(shape panel.Shape) weights {
	all := make([]float64, shape.Len()+edgesLen(shape.Classes))
	return weights{all, all[:shape.Len()], edgesOf(all[shape.Len():], shape.Classes)}
}

// scorer computes losses of sequences at weights, for one goroutine.
type scorer struct {
	memory      lattice
	unary, into []float64 // [T*K]
}

// lossAt returns the loss of sequence i at its scores [T, stride], which become the gradient in them, and adds the
// other parts of the gradient to sums.
func (w *scorer) lossAt(s *sample, loss Loss, c *chain, i int, scores []float64, sums *counts) float64 {
	k, stride, labels := s.tags, s.shape.Stride(), s.of(i)
	unary, into := room(&w.unary, len(labels)*k), room(&w.into, len(labels)*k)
	s.narrow(unary, scores)
	clear(into)
	value := loss.At(&w.memory, c, unary, labels, into, sums) / loss.Sharpness()
	for t := range labels {
		clear(scores[t*stride+k : (t+1)*stride])
		copy(scores[t*stride:], into[t*k:(t+1)*k])
	}
	return value
}
