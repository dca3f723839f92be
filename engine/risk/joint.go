package risk

// Jointly is the Label of a row that a Joint cost judges.
const Jointly = -2

// Joint is a cost of the class scores of some rows together, where that is no sum over the rows. Vectors are those of
// Risk, [n, stride] with class scores first; it reads and writes only the classes of its own rows. It need not be
// convex.
type Joint interface {
	// Gradient gives the cost at these scores, puts its gradient into slope, and into state what HessVec needs.
	Gradient(scores, slope, state []float64) (value float64)
	// HessVec replaces changes of scores by the second derivative of the cost, or a model of it, times them, and returns
	// the curvature along them.
	HessVec(changes, slope, state []float64) (curvature float64)
	// LineDerivatives gives the first and second derivative of the cost along scores + t changes.
	LineDerivatives(scores, changes []float64, t float64) (slope, curvature float64)
}

// jointly lets the joint costs have their part, and returns the sum of their values.
func (r *Risk) jointly(part func(j Joint) float64) (total float64) {
	for _, joint := range r.Joint {
		total += part(joint)
	}
	return total
}
