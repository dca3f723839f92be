package main

import "testing"

func TestDecisionsThatTakeLong(t *testing.T) {
	var nowhere *struct{ rows float64 }
	for _, c := range []struct {
		multiplications func() float64
		long            bool
	}{
		{func() float64 { return longDecisions }, false},
		{func() float64 { return longDecisions + 1 }, true},
		{func() float64 { return nowhere.rows }, false},
	} {
		if many(c.multiplications) != c.long {
			t.Errorf("long is not %v", c.long)
		}
	}
}
