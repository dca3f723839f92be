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

func TestObjectsThatAreLarge(t *testing.T) {
	for _, c := range []struct {
		values int
		large  bool
	}{{100, false}, {largeObject / 8, false}, {largeObject/8 + 1, true}} {
		m := fitted()
		rest := 0
		for _, a := range m.arrays() {
			rest += a.length()
		}
		m.extra = append(m.extra, array{"rest", list[int32](make([]int32, c.values-rest))})
		handle := handles.add(m)
		if isLarge(handle) != c.large {
			t.Errorf("%d values: large is not %v", c.values, c.large)
		}
		if err := handles.remove("handle", handle); err != nil {
			t.Error(err)
		}
	}
}
