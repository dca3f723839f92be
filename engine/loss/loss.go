// Package loss holds the losses of one row: what it costs to have a margin. A loss knows nothing of rows, labels or the
// minimizer.
package loss

// Margin is a loss ξ(t) of the margin t = y f(x): convex, falling, with ξ(t) > 0 for t < 0.
type Margin interface {
	// At gives value ξ(t), slope ξ'(t) and the (generalized) second derivative.
	At(t float64) (value, slope, curvature float64)
}

// Unlabeled is a loss u(t) of the margin t between the best class of a row without a label and the others: falling, and
// flat for t <= 0, where two classes change places. It is not convex.
type Unlabeled interface {
	// At gives value u(t) and slope u'(t).
	At(t float64) (value, slope float64)
}
