package belief

// Multipliers hold the prior exactly, by an augmented Lagrangian.
//
//	Problem  G(m) = Σ_y λ_y (m_y - φ_y) + μ/2 Σ_y (m_y - φ_y)² / φ_y
//	Symbols  φ class prior; λ multipliers; μ weight of the penalty, relative to the share, so that small classes are held
//	         as well as large ones. Classes with the share 0 have no term
//	Source   Bertsekas & Tsitsiklis, as in Keerthi, Sundararajan & Shevade 2012, section 4: after each solve λ_y grows by
//	         the derivative of the penalty
type Multipliers struct {
	Prior, Lambda []float64
	Weight        float64
}

const (
	firstWeight = 10.0 // μ of the augmented Lagrangian; 1 to 100 take about as many passes on 20 Newsgroups
	stiffen     = 2.0  // factor on μ where a round has not lowered the residual by the factor fall
	fall        = 4.0
)

// Equality holds the prior exactly.
func Equality(prior []float64) *Multipliers {
	return &Multipliers{Prior: prior, Lambda: make([]float64, len(prior)), Weight: firstWeight}
}

// At gives the value, and puts the first derivative with respect to each m_y into slope and the second, at least 0,
// into curve; there are no mixed ones.
func (h *Multipliers) At(m, slope, curve []float64) (value float64) {
	for y, share := range h.Prior {
		slope[y], curve[y] = 0, 0
		if share == 0 {
			continue
		}
		off := m[y] - share
		curve[y] = h.Weight / share
		slope[y] = h.Lambda[y] + off*curve[y]
		value += off * (h.Lambda[y] + off*curve[y]/2)
	}
	return value
}

// Update raises the multipliers by the derivative of the penalty at these means.
func (h *Multipliers) Update(m []float64) {
	for y, share := range h.Prior {
		if share > 0 {
			h.Lambda[y] += h.Weight * (m[y] - share) / share
		}
	}
}
