package risk

// Labels that are no classes.
const (
	LabelJoint = -2 // of a row of a Joint cost
	Unlabeled  = -3 // of a row without a label that has a loss
)

// Joint is a cost of the class scores of some rows together, where that is no sum over the rows. Vectors are those of
// Risk, [n, stride] with class scores first; it reads and writes only the classes of its own rows. It need not be
// convex.
type Joint interface {
	// Gradient gives the cost at these scores, puts its gradient into slope, and into state what HessVec needs.
	Gradient(scores, slope, state []float64) (value float64)
	// HessVec replaces changes of scores by the second derivative of the cost, or a model of it, times them, and returns
	// the curvature along them.
	HessVec(changes, slope, state []float64) (curvature float64)
	// Line gives the value of the cost and its first and second derivative along scores + t changes.
	Line(scores, changes []float64, t float64) (value, slope, curvature float64)
}
