// Package loss has the losses of a row. A loss knows nothing of rows, labels or the minimizer.
package loss

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// Margin is a loss ξ(t) of the margin t = y f(x): convex, falling, with ξ(t) > 0 for t < 0.
type Margin interface {
	// At gives value ξ(t), slope ξ'(t) and the (generalized) second derivative.
	At(t float64) (value, slope, curvature float64)
}

// Sides is a row with a part on either side: its loss is plus ξ(z) + minus ξ(-z), with first and second derivative.
type Sides struct {
	Z, Plus, Minus          float64
	Value, Slope, Curvature float64
}

func Evaluate(m Margin, rows []Sides) {
	if _, ok := m.(SquaredHinge); ok {
		evaluateSquaredHinge(rows)
		return
	}
	for k := range rows {
		r := &rows[k]
		r.Value, r.Slope, r.Curvature = bothSides(m, r.Z, r.Plus, r.Minus, 0)
	}
}

// bothSides is plus ξ(z) + minus ξ(-z), added to a value, with its derivatives.
func bothSides(m Margin, z, plus, minus, to float64) (value, slope, curvature float64) {
	value = to
	if plus > 0 {
		v, s, c := m.At(z)
		value, slope, curvature = value+plus*v, plus*s, plus*c
	}
	if minus > 0 {
		v, s, c := m.At(-z)
		value, slope, curvature = value+minus*v, slope-minus*s, curvature+minus*c
	}
	return value, slope, curvature
}

// SquaredHinge is ½ max(0, 1-t)²: piecewise quadratic, with generalized curvature 1 for t < 1 and 0 beyond.
type SquaredHinge struct{}

func (SquaredHinge) At(t float64) (value, slope, curvature float64) {
	if t >= 1 {
		return 0, 0, 0
	}
	return 0.5 * (1 - t) * (1 - t), t - 1, 1
}

// evaluateSquaredHinge is Evaluate without branches, which the processor could not predict.
func evaluateSquaredHinge(rows []Sides) {
	for k := range rows {
		r := &rows[k]
		short, over := max(0, 1-r.Z), max(0, 1+r.Z) // of margin 1, as positive and as negative
		plus, minus := r.Plus*short, r.Minus*over
		r.Value, r.Slope = 0.5*(plus*short+minus*over), minus-plus
		r.Curvature = where(short > 0, r.Plus) + where(over > 0, r.Minus)
	}
}

// squaredHinges is At of OneAgainstRest, without branches.
func squaredHinges(s, p, slope, state []float64) (value float64) {
	s, slope, state = s[:len(p)], slope[:len(p)], state[:len(p)]
	for y, q := range p {
		short, over := max(0, 1-s[y]), max(0, 1+s[y])
		plus, minus := q*short, (1-q)*over
		value += plus*short + minus*over
		slope[y] = minus - plus
		state[y] = where(short > 0, q) + where(over > 0, 1-q)
	}
	return 0.5 * value
}

// squaredHingeCosts is Costs of OneAgainstRest, without branches.
func squaredHingeCosts(dst, s []float64) {
	rest := 0.0
	for y, f := range s {
		short, over := max(0, 1-f), max(0, 1+f)
		minus := 0.5 * over * over
		dst[y] = 0.5*short*short - minus
		rest += minus
	}
	floats.AddConst(rest, dst)
}

// where is v if the condition holds, otherwise 0.
func where(condition bool, v float64) float64 {
	mask := uint64(0)
	if condition {
		mask = math.MaxUint64
	}
	return math.Float64frombits(math.Float64bits(v) & mask)
}

// Huber is the hinge with a smooth corner.
//
//	Problem  ξ(t) = 1-t for t <= 1-ε, (1+ε-t)² / 4ε up to 1+ε, 0 beyond: the hinge, but for ε/4 at most
//	Source   Chapelle 2007, Training a Support Vector Machine in the Primal; Zien, Brefeld & Scheffer 2007
type Huber struct{ Band float64 } // ε

func (l Huber) At(t float64) (value, slope, curvature float64) {
	short := 1 + l.Band - t
	switch {
	case short <= 0:
		return 0, 0, 0
	case short >= 2*l.Band:
		return 1 - t, -1, 0
	}
	return short * short / (4 * l.Band), -short / (2 * l.Band), 1 / (2 * l.Band)
}

// Plateau is a loss of a row without a label: its value and slope. It falls, and is not convex.
//
//	Problem  u(t) = 1 for t <= τ, 1 - 2 d² for d = (t-τ) / (1-τ) up to 1/2, 2 (1-d)² up to 1, 0 beyond
//	Symbols  t margin between the best class and the others; τ flat
//	Source   Zien, Brefeld & Scheffer 2007, u_{Δ,τ} from memory; Chapelle & Zien 2005 have exp(-3 t²)
func Plateau(t float64) (value, slope float64) {
	const flat = 0.4
	const width = 1 - flat
	d := (t - flat) / width
	switch {
	case d <= 0:
		return 1, 0
	case d >= 1:
		return 0, 0
	case d <= 0.5:
		return 1 - 2*d*d, -4 * d / width
	}
	return 2 * (1 - d) * (1 - d), -4 * (1 - d) / width
}

// Classes is a loss ξ(s, y) of class scores s of a row, convex in s; with probabilities p it is Σ_y p_y ξ(s, y). With
// p = nil the row has no label: Gap and Signed have a loss for such rows, not convex.
type Classes interface {
	// At gives Σ_y p_y ξ(s, y), its gradient in slope, and in state what HessVec needs; all have one entry a class.
	At(s, p, slope, state []float64) (value float64)
	// HessVec multiplies v by the (generalized) second derivative of that, or by a bound on it from above.
	HessVec(v, state []float64)
	// Curvature is the largest curvature in the score of one class that this state has.
	Curvature(state []float64) float64
	// Costs puts ξ(s, y) into dst, for every class y.
	Costs(dst, s []float64)
}

// separate is a loss whose second derivative is a curvature for each class, its state.
type separate struct{}

func (separate) HessVec(v, state []float64) { floats.Mul(v, state) }

func (separate) Curvature(state []float64) float64 { return state[vector.Largest(state)] }

// Signed is a margin loss of two classes with the scores -z and z.
//
//	Problem  ξ(s, y) = m(s_y)
//	Source   the papers' loss of two classes: ξ(z) as positive, ξ(-z) as negative
type Signed struct {
	separate
	Margin   Margin
	Plateaus bool // rows without a label have the loss Plateau
}

func (l Signed) At(s, p, slope, state []float64) float64 {
	total := 0.0
	if p == nil {
		best := vector.Largest(s)
		clear(slope)
		clear(state)
		total, slope[best] = Plateau(s[best])
	}
	for y, q := range p {
		value, first, second := l.Margin.At(s[y])
		total += q * value
		slope[y], state[y] = q*first, q*second
	}
	return total
}

func (l Signed) Costs(dst, s []float64) {
	for y, f := range s {
		dst[y], _, _ = l.Margin.At(f)
	}
}

// OneAgainstRest is a margin loss for every class, which is one side, against all others.
//
//	Problem  ξ(s, y) = m(s_y) + Σ_{k≠y} m(-s_k)
//	Source   the usual reduction to two classes; with two classes and s_1 = -s_0 it is twice the margin loss
type OneAgainstRest struct {
	separate
	Margin Margin
}

func (l OneAgainstRest) At(s, p, slope, state []float64) float64 {
	if _, ok := l.Margin.(SquaredHinge); ok {
		return squaredHinges(s, p, slope, state)
	}
	total := 0.0
	for y, q := range p {
		total, slope[y], state[y] = bothSides(l.Margin, s[y], q, 1-q, total)
	}
	return total
}

func (l OneAgainstRest) Costs(dst, s []float64) {
	if _, ok := l.Margin.(SquaredHinge); ok {
		squaredHingeCosts(dst, s)
		return
	}
	rest := 0.0
	for y, f := range s {
		minus, _, _ := l.Margin.At(-f)
		plus, _, _ := l.Margin.At(f)
		dst[y] = plus - minus
		rest += minus
	}
	floats.AddConst(rest, dst)
}

// Softmax is the maxent loss, and the smoothed hinge of Crammer & Singer.
//
//	Problem  ξ(s, y) = σ log Σ_k exp((s_k + Δ [k≠y] - s_y) / σ)
//	Symbols  σ smoothing; Δ margin: Δ = 0, σ = 1 is the negative log-likelihood of the maxent model; Δ = 1, σ → 0 the
//	         hinge of Crammer & Singer, from ξ - σ log K to ξ; q^y_k the probabilities in that sum for class y
//	Source   Keerthi, Sundararajan & Shevade 2012, losses of section 2; Crammer & Singer 2001
//	Cost     one exp a class, two with a margin
type Softmax struct{ Smoothing, Margin float64 }

// At implements Classes; state is q = Σ_y p_y q^y, so that slope = q - p.
func (l Softmax) At(s, p, slope, state []float64) float64 {
	if l.Margin == 0 {
		return l.logLikelihood(s, p, slope, state)
	}
	best := vector.Largest(s)
	total, factor := l.weights(state, s, s[best]), l.factor()
	value, share := 0.0, 0.0 // share = Σ_{y≠best} p_y / Z_y
	for y, q := range p {
		slope[y] = 0
		if y != best && q > 0 {
			z := total - (1-factor)*state[y] // Z_y, at least 1
			value += q * (l.Smoothing*math.Log(z) + l.Margin + s[best] - s[y])
			share += q / z
			slope[y] = -(1 - factor) * state[y] * q / z
		}
	}
	vector.Add(slope, share, state)
	if q := p[best]; q > 0 {
		top, sum := l.weightsOf(state, s, best)
		value += q * (l.Smoothing*math.Log(sum) + top - s[best])
		for k, z := range state {
			slope[k] += q * z / sum
		}
	}
	for k, q := range p {
		state[k] = slope[k]
		slope[k] -= q
	}
	return value
}

// logLikelihood is At without a margin: q and the sum in the logarithm are the same for all classes.
func (l Softmax) logLikelihood(s, p, slope, state []float64) (value float64) {
	top := vector.Max(s)
	total := l.weights(state, s, top)
	vector.Scale(state, 1/total)
	for k, q := range p {
		value += q * (top - s[k])
		slope[k] = state[k] - q
	}
	return value + l.Smoothing*math.Log(total)*vector.Sum(p)
}

// weights puts z_k = exp((s_k - top) / σ) into dst, where top is the largest score, and returns their sum.
func (l Softmax) weights(dst, s []float64, top float64) (total float64) {
	for k, v := range s {
		dst[k] = (v - top) / l.Smoothing
	}
	vector.Exp(dst)
	return vector.Sum(dst)
}

// weightsOf puts exp((s_k + Δ [k≠best] - top) / σ) into dst and returns top, the largest s_k + Δ [k≠best], and the sum.
func (l Softmax) weightsOf(dst, s []float64, best int) (top, total float64) {
	copy(dst, s)
	floats.AddConst(l.Margin, dst)
	dst[best] = s[best]
	top = vector.Max(dst)
	return top, l.weights(dst, dst, top)
}

func (l Softmax) factor() float64 { return math.Exp(-l.Margin / l.Smoothing) }

// HessVec is (diag q - q qᵀ) v / σ: exact without a margin or for a certain class, otherwise an upper bound.
func (l Softmax) HessVec(v, state []float64) {
	mean := 0.0
	for k, q := range state {
		mean += q * v[k]
	}
	for k, q := range state {
		v[k] = q * (v[k] - mean) / l.Smoothing
	}
}

func (l Softmax) Curvature(state []float64) float64 {
	largest := 0.0
	for _, q := range state {
		largest = max(largest, q*(1-q))
	}
	return largest / l.Smoothing
}

func (l Softmax) Costs(dst, s []float64) {
	if l.Margin == 0 {
		top := vector.Max(s)
		all := l.Smoothing*math.Log(l.weights(dst, s, top)) + top
		for y, f := range s {
			dst[y] = all - f
		}
		return
	}
	best := vector.Largest(s)
	top, sum := l.weightsOf(dst, s, best)
	cost := l.Smoothing*math.Log(sum) + top - s[best]
	total, factor := l.weights(dst, s, s[best]), l.factor()
	for y, z := range dst {
		dst[y] = l.Smoothing*math.Log(total-(1-factor)*z) + l.Margin + s[best] - s[y]
	}
	dst[best] = cost
}
