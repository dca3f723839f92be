// Package loss has the losses of a row. A loss knows nothing of rows, labels or the minimizer.
package loss

import "math"

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
		r.Value, r.Slope, r.Curvature = 0, 0, 0
		if r.Plus > 0 {
			v, s, c := m.At(r.Z)
			r.Value, r.Slope, r.Curvature = r.Plus*v, r.Plus*s, r.Plus*c
		}
		if r.Minus > 0 {
			v, s, c := m.At(-r.Z)
			r.Value, r.Slope, r.Curvature = r.Value+r.Minus*v, r.Slope-r.Minus*s, r.Curvature+r.Minus*c
		}
	}
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
	for y := range dst {
		dst[y] += rest
	}
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
//	Problem  ξ(t) = 1-t for t <= 1-ε, (1+ε-t)² / 4ε up to 1+ε, 0 beyond; ε → 0 is the hinge, nowhere further away than
//	         ε/4
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
