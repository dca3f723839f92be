package files

import (
	"math"
	"strconv"
	"testing"
)

func TestNumberForms(t *testing.T) {
	for _, text := range []string{
		"-0", "+1", ".5", "5.", "1E+3", "00012.500", "9007199254740993", "1e308", "1e-400", "4.9e-324",
	} {
		got, ok := number([]byte(text))
		if want, _ := strconv.ParseFloat(text, 64); !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("number(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "-", "1e", "nan", "inf", "Infinity", "1 2", "1,2", "1_000", "0x1p-2", "0x1", "1.5x", "1e309", "-1e309",
	} {
		if value, ok := number([]byte(text)); ok {
			t.Errorf("number(%q) = %v", text, value)
		}
	}
}
