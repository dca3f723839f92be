package loss

// Plateau is a loss of a row without a label.
//
//	Problem  u(t) = 1 for t <= τ, 1 - 2 d² for d = (t-τ) / (1-τ) up to 1/2, 2 (1-d)² up to 1, 0 beyond
//	Symbols  t margin between the best class and the others
//	Source   Zien, Brefeld & Scheffer 2007, u_{Δ,τ} from memory; Chapelle & Zien 2005 have exp(-3 t²)
type Plateau struct{ Flat float64 } // τ

// At implements Unlabeled.
func (l Plateau) At(t float64) (value, slope float64) {
	width := 1 - l.Flat
	d := (t - l.Flat) / width
	switch {
	case d <= 0:
		return 1, 0
	case d >= 1:
		return 0, 0
	case d <= 0.5:
		return 1 - 2*d*d, -4 * d / width
	}
	return 2 * (1 - d) * (1 - d), -4 * (1 - d) / width
}
