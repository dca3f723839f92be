package loss

// Hinge is max(0, 1-t). It has no curvature: minimize it in the dual (package dual).
type Hinge struct{}

// At implements Margin.
func (Hinge) At(t float64) (value, slope, curvature float64) {
	if t >= 1 {
		return 0, 0, 0
	}
	return 1 - t, -1, 0
}
