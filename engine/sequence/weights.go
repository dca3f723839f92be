package sequence

import "github.com/fewlabel/fewlabel/engine/panel"

// weights are all numbers that are learned, in one vector: of the features, in units of the rows' length and in the
// panels of shape, then of the transitions, the start and the end.
type weights struct {
	all              []float64
	coef             []float64 // [shape.Len]
	pair, start, end []float64 // [K*K], [K], [K]
}

func weightsLen(shape panel.Shape) int { return shape.Len() + shape.Classes*(shape.Classes+2) }

// view is the parts of a vector of weights.
func view(all []float64, shape panel.Shape) weights {
	k, at := shape.Classes, shape.Len()
	return weights{all, all[:at], all[at : at+k*k], all[at+k*k : at+k*k+k], all[at+k*k+k:]}
}

// chainAt sets a chain to the weights times the sharpness of the loss, with what is forbidden.
func (s *sample) chainAt(c *Chain, w weights) {
	rho := s.loss.Sharpness()
	for _, part := range [][2][]float64{{c.Pair, w.pair}, {c.Start, w.start}, {c.End, w.end}} {
		for k, weight := range part[1] {
			part[0][k] = rho * weight
		}
	}
	s.open.apply(c)
}

// addTo adds the counts to the gradient in the weights of the chain.
func (c *Counts) addTo(w weights) {
	for _, part := range [][2][]float64{{w.pair, c.Pair}, {w.start, c.Start}, {w.end, c.End}} {
		for k, count := range part[1] {
			part[0][k] += count
		}
	}
}

func (c *Counts) clear() {
	clear(c.Pair)
	clear(c.Start)
	clear(c.End)
}

// worker is the memory of a goroutine.
type worker struct {
	Lattice
	unary, into []float64 // [T*K]
}

// lossAt returns the loss of sequence i at its scores [T, stride], which become the gradient in them, and adds the
// other parts of the gradient to counts.
func (s *sample) lossAt(w *worker, c *Chain, i int, scores []float64, counts *Counts) float64 {
	k, stride, labels := s.tags, s.shape.Stride(), s.of(i)
	unary, into := room(&w.unary, len(labels)*k), room(&w.into, len(labels)*k)
	w.unary, w.into = unary, into
	s.narrow(unary, scores)
	clear(into)
	value := s.lossOf(i).At(&w.Lattice, c, unary, labels, into, counts) / s.loss.Sharpness()
	for t := range labels {
		clear(scores[t*stride+k : (t+1)*stride])
		copy(scores[t*stride:], into[t*k:(t+1)*k])
	}
	return value
}

// narrow copies scores [T, stride] times the sharpness to dst [T*K].
func (s *sample) narrow(dst, scores []float64) {
	k, stride, rho := s.tags, s.shape.Stride(), s.loss.Sharpness()
	for t := range len(dst) / k {
		for j, score := range scores[t*stride : t*stride+k] {
			dst[t*k+j] = rho * score
		}
	}
}
