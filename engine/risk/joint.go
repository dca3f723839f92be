package risk

// Jointly is the Label of a row that the Joint cost judges.
const Jointly = -2

// Joint is a cost of the class scores of some rows together, where that is no sum over the rows. Vectors are those of
// Classes, [n, stride] with class scores first; it reads and writes only the classes of its own rows. It need not be
// convex.
type Joint interface {
	// Gradient gives the cost at these scores, puts its gradient into slope, and into state what Bend needs.
	Gradient(scores, slope, state []float64) (value float64)
	// Bend replaces changes of scores by the second derivative of the cost, or a model of it, times them, and returns
	// the curvature along them.
	Bend(changes, slope, state []float64) (curvature float64)
	// Along gives the first and second derivative of the cost along scores + t changes.
	Along(scores, changes []float64, t float64) (slope, curvature float64)
}

// Stride is the length of a row of scores.
func (r *Classes) Stride() int { return r.shape.Stride() }

// Scores are those of all rows [n, stride] at the current point, for rows that have a cost.
func (r *Classes) Scores() []float64 { return r.scores }

// jointly lets the joint cost have its part, where there is one, and returns its value.
func (r *Classes) jointly(part func(j Joint) float64) float64 {
	if r.Joint == nil {
		return 0
	}
	return part(r.Joint)
}
