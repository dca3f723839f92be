// Package scores has the maps M from the columns z = Wᵀ x of a row to its class scores s = M z. A map works in place on
// the stored scores of a row; models keep a prefix of these, the outputs.
package scores

// Map is a linear map from the columns of a row to its class scores.
type Map interface {
	Classes() int // K
	Columns() int // entries of z
	Outputs() int // entries of a stored row that determine the class scores, the first ones
	// Flat reports whether the outputs are the columns.
	Flat() bool
	// Depth is the squared norm of a class's row of M.
	Depth(class int) float64
	// Down turns columns [columns] into stored scores, in place.
	Down(row []float64)
	// Up is its transpose: it turns a gradient in the outputs (zero beyond them) into one in the columns, in place.
	Up(row []float64)
	// Split puts the columns of smallest norm with these outputs into dst [columns].
	Split(dst, outputs []float64)
	// ClassScores puts the class scores [K] of a stored row into dst.
	ClassScores(dst, stored []float64)
}

// Pair is two classes with one column z, the decision: their scores are -z and z.
type Pair struct{}

func (Pair) Classes() int { return 2 }

func (Pair) Columns() int { return 1 }

func (Pair) Outputs() int { return 1 }

func (Pair) Flat() bool { return true }

func (Pair) Depth(int) float64 { return 1 }

func (Pair) Down([]float64) {}

func (Pair) Up([]float64) {}

func (Pair) Split(dst, outputs []float64) { dst[0] = outputs[0] }

func (Pair) ClassScores(dst, stored []float64) { dst[0], dst[1] = -stored[0], stored[0] }
