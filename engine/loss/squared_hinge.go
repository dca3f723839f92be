package loss

// SquaredHinge is ½ max(0, 1-t)²: piecewise quadratic, with generalized curvature 1 for t < 1 and 0 beyond.
type SquaredHinge struct{}

// At implements Margin.
func (SquaredHinge) At(t float64) (value, slope, curvature float64) {
	if t >= 1 {
		return 0, 0, 0
	}
	return 0.5 * (1 - t) * (1 - t), t - 1, 1
}
