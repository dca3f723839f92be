package vector

import "testing"

func TestLoopsOfEveryLength(t *testing.T) {
	for n := range 11 {
		a, b := make([]float64, n), make([]float64, n)
		dot, sum := 0.0, 0.0
		for j := range a {
			a[j], b[j] = float64(j+1), float64(2*j-3)
			dot += a[j] * b[j]
			sum += a[j]
		}
		if Dot(a, b) != dot || Sum(a) != sum {
			t.Errorf("length %d: %v and %v, should be %v and %v", n, Dot(a, b), Sum(a), dot, sum)
		}
		ahead := SquareOfSum(a, 2, b)
		Add(a, 2, b)
		if ahead != Dot(a, a) {
			t.Errorf("length %d: %v, should be %v", n, ahead, Dot(a, a))
		}
		for j := range a {
			if a[j] != float64(j+1)+2*float64(2*j-3) {
				t.Errorf("length %d: entry %d is %v", n, j, a[j])
			}
		}
		Scale(b, 3)
		for j := range b {
			if b[j] != 3*float64(2*j-3) {
				t.Errorf("length %d: entry %d is %v after scaling", n, j, b[j])
			}
		}
	}
}
