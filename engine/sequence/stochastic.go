package sequence

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
)

const (
	// Chosen on draws from CoNLL-2002 Spanish; without the offset rare features take long steps: -5 to -10 points of F1.
	epochs, rate, offset = 10, 4, 10

	maxBatch     = 16 // sequences of a mini-batch: enough for a few threads; 1 gives the same objective
	minBatches   = 64 // of an epoch, before mini-batches grow
	stepFeatures = 256
)

// weights are all numbers that are learned, in one vector: of the features, in the panels of shape, then of the chain.
type weights struct {
	all   []float64
	coef  []float64 // [shape.Len]
	chain edges
}

func newWeights(shape panel.Shape) weights {
	all := make([]float64, shape.Len()+edgesLen(shape.Classes))
	return weights{all, all[:shape.Len()], edgesOf(all[shape.Len():], shape.Classes)}
}

// stochastic takes steps over mini-batches of shuffled sequences.
//
//	Problem  min F(w) = α/2 |w|² + 1/L Σ ξ, from a few passes over the sequences
//	Symbols  g gradient of the sum of the losses of a mini-batch; h_f Σ |g_f|² of feature f so far; η, δ rate and offset
//	Source   Duchi, Hazan & Singer 2011 (AdaGrad): w_f moves by -η g_f / √(δ + h_f), then by the proximal step of
//	         the regularization, w_f / (1 + η α n / √(δ + h_f)), for the n tokens since f's last step
//	Differences  one step length for all tags of a feature; transitions, start and end have one each
//	Stops    after the epochs
//	Cost     an epoch: twice the non-zeros times K, and K² a token; memory for w, g and h. The steps of a mini-batch are
//	         divided among the threads by sequences, tags and features: nothing is added in another order
type stochastic struct {
	*sample
	w, g    weights
	belief  belief    // nil: sequences without any label are not in order
	squares []float64 // h [rows.Cols], then of every other weight
	since   []float64 // [rows.Cols] tokens before a feature's last step
	tokens  float64   // of all steps
	chain   *chain
	random  *rand.Rand
	order   []int // sequences that have a loss
	places  []place

	marks   []int32 // [rows.Cols] the last mini-batch with a feature
	batch   int32
	touched []int32 // its features
}

// place is where one sequence of a mini-batch is worked on.
type place struct {
	lattice
	counts edges
	scores []float64 // [T, stride], then the gradient in them
	value  float64
}

func newStochastic(s *sample, w weights) *stochastic {
	n := s.Rows.Cols()
	d := &stochastic{sample: s, w: w, g: newWeights(s.shape), squares: make([]float64, n+edgesLen(s.tags)),
		since: make([]float64, n), chain: newChain(s.tags, s.allowed), marks: make([]int32, n),
		random: rand.New(rand.NewPCG(uint64(s.options.RandomState), 0)), order: s.list(false),
		places: make([]place, batchOf(s.sequences()))}
	for b := range d.places {
		d.places[b].counts = newEdges(d.tags)
	}
	return d
}

// batchOf is the number of sequences in a mini-batch of so many.
func batchOf(sequences int) int { return max(1, min(maxBatch, sequences/minBatches)) }

// epoch takes steps over all sequences and returns the sum of their losses before their steps.
func (d *stochastic) epoch() (total float64) {
	d.random.Shuffle(len(d.order), func(i, j int) { d.order[i], d.order[j] = d.order[j], d.order[i] })
	for batch := range slices.Chunk(d.order, batchOf(len(d.order))) {
		d.Check()
		total += d.step(batch)
	}
	d.CountAndCheck(int64(d.Rows.NonZeros()))
	return total
}

// step goes along the gradient of a mini-batch and returns its losses.
func (d *stochastic) step(batch []int) (total float64) {
	d.batch++
	d.touched = d.touched[:0]
	d.setChain(d.chain, d.w.chain)
	d.Run(len(batch), func(b int) { d.evaluate(&d.places[b], batch[b]) })
	spans, gradients := make([]rows.Span, len(batch)), make([][]float64, len(batch))
	tokens := 0
	for b, i := range batch {
		spans[b], gradients[b] = d.span(i), d.places[b].scores
		d.touched = spans[b].Features(d.Rows, d.marks, d.batch, d.touched)
		vector.Add(d.g.chain.all, 1, d.places[b].counts.all)
		total += d.places[b].value
		tokens += spans[b].Len()
	}
	rows.AddSpans(d.Pool, d.Rows, spans, d.g.coef, gradients, d.shape)
	d.tokens += float64(tokens)
	d.Run((len(d.touched)+stepFeatures-1)/stepFeatures, func(part int) {
		for _, f := range d.touched[part*stepFeatures : min(len(d.touched), (part+1)*stepFeatures)] {
			d.moveFeature(int(f))
		}
	})
	d.moveChain(float64(tokens))
	return total
}

// evaluate puts the loss and the gradient of sequence i in its scores, and the counts, into its place.
func (d *stochastic) evaluate(p *place, i int) {
	k, stride, labels := d.tags, d.shape.Stride(), d.of(i)
	d.span(i).TimesPanels(d.Rows, room(&p.scores, len(labels)*stride), d.w.coef, d.shape)
	unary, into := room(&p.unary, len(labels)*k), room(&p.into, len(labels)*k)
	d.sharpen(unary, p.scores)
	clear(into)
	clear(p.counts.all)
	loss := Loss(d.loss)
	if d.unlabeled(i) {
		loss = d.belief.lossOf(i)
	}
	p.value = loss.At(&p.lattice, d.chain, unary, labels, into, &p.counts) / d.loss.Rho
	for t := range labels {
		clear(p.scores[t*stride+k : (t+1)*stride])
		copy(p.scores[t*stride:], into[t*k:(t+1)*k])
	}
}

// moveFeature takes the step of all weights of a feature and clears its gradient.
func (d *stochastic) moveFeature(f int) {
	for b := range d.shape.Panels() {
		_, g := d.inPanel(f, b)
		d.squares[f] += vector.Dot(g, g)
	}
	length := rate / math.Sqrt(offset+d.squares[f])
	shrink := 1 / (1 + length*d.options.Alpha*(d.tokens-d.since[f]))
	d.since[f] = d.tokens
	for b := range d.shape.Panels() {
		w, g := d.inPanel(f, b)
		for y := range w {
			w[y] = shrink * (w[y] - length*g[y])
			g[y] = 0
		}
	}
}

func (d *stochastic) inPanel(f, b int) (w, g []float64) {
	p := d.shape.Panel(b)
	at := p.Start + f*p.Stride
	return d.w.coef[at : at+p.Stride], d.g.coef[at : at+p.Stride]
}

func (d *stochastic) moveChain(tokens float64) {
	w, g, squares := d.w.chain.all, d.g.chain.all, d.squares[d.Rows.Cols():]
	for k, slope := range g {
		squares[k] += slope * slope
		length := rate / math.Sqrt(offset+squares[k])
		w[k] = (w[k] - length*slope) / (1 + length*d.options.Alpha*tokens)
		g[k] = 0
	}
}

// objectiveNow is F at the weights, in the order of the sequences; rest is that of the belief.
func (d *stochastic) objectiveNow(rest float64) float64 {
	slices.Sort(d.order)
	d.setChain(d.chain, d.w.chain)
	total := 0.0
	for batch := range slices.Chunk(d.order, batchOf(len(d.order))) {
		d.Check()
		d.Run(len(batch), func(b int) { d.evaluate(&d.places[b], batch[b]) })
		for b := range batch {
			total += d.places[b].value
		}
	}
	return d.options.Alpha/2*vector.Dot(d.w.all, d.w.all) + (total+rest)/d.labeled
}
