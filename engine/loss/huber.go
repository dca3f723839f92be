package loss

// Huber is the hinge with a smooth corner.
//
//	Problem  ξ(t) = 1-t for t <= 1-ε, (1+ε-t)² / 4ε up to 1+ε, 0 beyond; ε → 0 is the hinge, nowhere further away than
//	         ε/4
//	Source   Chapelle 2007, Training a Support Vector Machine in the Primal; Zien, Brefeld & Scheffer 2007
type Huber struct{ Band float64 } // ε

// At implements Margin.
func (l Huber) At(t float64) (value, slope, curvature float64) {
	short := 1 + l.Band - t
	switch {
	case short <= 0:
		return 0, 0, 0
	case short >= 2*l.Band:
		return 1 - t, -1, 0
	}
	return short * short / (4 * l.Band), -short / (2 * l.Band), 1 / (2 * l.Band)
}
