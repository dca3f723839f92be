// Package loss has the losses of a row. A loss knows nothing of rows, labels or the minimizer.
package loss

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

// Evaluate fills the values and derivatives of rows.
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

// Unlabeled is a loss u(t) of the margin t between the best class of a row without a label and the others: falling,
// flat for t <= 0, not convex.
type Unlabeled interface {
	// At gives value u(t) and slope u'(t).
	At(t float64) (value, slope float64)
}
