package loss

import "math"

// SquaredHinge is ½ max(0, 1-t)²: piecewise quadratic, with generalized curvature 1 for t < 1 and 0 beyond.
type SquaredHinge struct{}

// At implements Margin.
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

// signedSquaredHinges is Costs of Signed, without branches.
func signedSquaredHinges(dst, s []float64) {
	for y, f := range s {
		short := max(0, 1-f)
		dst[y] = 0.5 * short * short
	}
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
